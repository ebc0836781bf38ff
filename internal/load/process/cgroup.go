package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// group holds the limits and throttling of a process's control groups. The limits of a group and of all its
// ancestors that the container sees apply.
type group struct {
	throttled throttling
	periods   map[string]Periods
	// quota is the lowest limit, in processors; 0 means none.
	quota float64
}

// Periods counts, since the creation of a group, the periods of its quota in which it had work, and in how many of them it
// was throttled.
type Periods struct{ All, Throttled uint64 }

// throttling is, by directory, how long each group was throttled since its creation, summed over the processors.
type throttling map[string]time.Duration

// since returns the increase in the group in which it is largest. The totals cannot be compared: the total of an old
// group would hide that of a new one.
func (t throttling) since(before throttling) (most time.Duration) {
	for dir, throttled := range t {
		if then, known := before[dir]; known {
			most = max(most, throttled-then)
		}
	}
	return most
}

// version is one of the two interfaces of control groups.
type version struct {
	// readQuota returns a group's quota in processors; 0 if it has none.
	readQuota func(dir string) (float64, error)
	// throttledKey is the key in cpu.stat, and unit its unit.
	throttledKey string
	unit         time.Duration
}

var (
	version1 = version{readQuota: quotaOfVersion1, throttledKey: "throttled_time", unit: time.Nanosecond}
	version2 = version{readQuota: quotaOfVersion2, throttledKey: "throttled_usec", unit: time.Microsecond}
)

// readGroup reads the control group that limits the processor time of a process: its ID, or "self".
func readGroup(root, process string) (group, error) {
	place, err := findGroup(root, process)
	if err != nil {
		return group{}, err
	}
	all := group{throttled: throttling{}, periods: map[string]Periods{}}
	for dir := place.dir; ; dir = filepath.Dir(dir) {
		throttled, periods, quota, err := place.version.read(dir)
		if err != nil {
			return group{}, err
		}
		all.throttled[dir], all.periods[dir] = throttled, periods
		if quota > 0 && (all.quota == 0 || quota < all.quota) {
			all.quota = quota
		}
		if dir == place.top || !strings.HasPrefix(dir, place.top) {
			return all, nil
		}
	}
}

// read reads one group. The outermost group of version 2 has no quota and no throttling counters.
func (v version) read(dir string) (throttled time.Duration, periods Periods, quota float64, err error) {
	stat, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return 0, Periods{}, 0, err
	}
	for line := range strings.Lines(string(stat)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key != v.throttledKey && key != "nr_periods" && key != "nr_throttled" {
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return 0, Periods{}, 0, fmt.Errorf("cpu.stat: wanted a number for %s, found %.64q", key, value)
		}
		switch key {
		case v.throttledKey:
			throttled = time.Duration(n) * v.unit
		case "nr_periods":
			periods.All = uint64(n)
		default:
			periods.Throttled = uint64(n)
		}
	}
	quota, err = v.readQuota(dir)
	return throttled, periods, quota, err
}

func quotaOfVersion1(dir string) (float64, error) {
	quota, err := readNumber(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil || quota <= 0 {
		return 0, err
	}
	period, err := readNumber(filepath.Join(dir, "cpu.cfs_period_us"))
	if err != nil || period <= 0 {
		return 0, err
	}
	return quota / period, nil
}

func readNumber(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return parseNumber(filepath.Base(path), strings.TrimSpace(string(text)))
}

func parseNumber(file, text string) (float64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: wanted a number, found %.64q", file, text)
	}
	return float64(n), nil
}

// quotaOfVersion2 reads a quota and a period in microseconds; "max" is none.
func quotaOfVersion2(dir string) (float64, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) != 2 {
		return 0, fmt.Errorf("cpu.max: wanted a quota and a period, found %.64q", text)
	}
	if fields[0] == "max" {
		return 0, nil
	}
	quota, err := parseNumber("cpu.max", fields[0])
	if err != nil {
		return 0, err
	}
	period, err := parseNumber("cpu.max", fields[1])
	if err != nil || period <= 0 {
		return 0, err
	}
	return quota / period, nil
}

// place is the location of the files of a process's group.
type place struct {
	version version
	// dir is the group's own directory, top the outermost visible one.
	dir, top string
}

// findGroup follows the file cgroup of a process and /proc/self/mountinfo (cgroups(7), proc_pid_mountinfo(5)). If both versions
// are mounted, version 1 controls processor time if it has the controller "cpu".
func findGroup(root, process string) (place, error) {
	groups, err := os.ReadFile(filepath.Join(root, "proc", process, "cgroup"))
	if err != nil {
		return place{}, err
	}
	mounts, err := os.ReadFile(filepath.Join(root, "proc", "self", "mountinfo"))
	if err != nil {
		return place{}, err
	}
	own, isVersion1, found := ownGroup(string(groups))
	if !found {
		return place{}, fmt.Errorf("/proc/%s/cgroup: found no control group for processor time", process)
	}
	for line := range strings.Lines(string(mounts)) {
		m, ok := parseMount(line)
		if !ok || m.isVersion1() != isVersion1 || isVersion1 && !slices.Contains(m.options, "cpu") {
			continue
		}
		return m.place(root, own)
	}
	return place{}, fmt.Errorf("/proc/self/mountinfo: found no mount of the control group %s", own)
}

// ownGroup returns the path of the group in its hierarchy.
func ownGroup(text string) (path string, isVersion1, found bool) {
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) != 3:
		case slices.Contains(strings.Split(fields[1], ","), "cpu"):
			return fields[2], true, true
		case fields[0] == "0" && fields[1] == "":
			path, found = fields[2], true
		}
	}
	return path, false, found
}

// mount is a mounted hierarchy of control groups.
type mount struct {
	// root is the group that is visible at point.
	root, point, kind string
	options           []string
}

func parseMount(line string) (m mount, ok bool) {
	before, after, found := strings.Cut(line, " - ")
	fields, rest := strings.Fields(before), strings.Fields(after)
	if !found || len(fields) < 5 || len(rest) < 3 {
		return mount{}, false
	}
	m = mount{root: fields[3], point: fields[4], kind: rest[0], options: strings.Split(rest[2], ",")}
	return m, m.kind == "cgroup" || m.kind == "cgroup2"
}

func (m mount) isVersion1() bool { return m.kind == "cgroup" }

// place locates a group below the mount. In a container with version 1, the mount begins at the container's own group,
// while the path starts at the host's root.
func (m mount) place(root, own string) (place, error) {
	below, inside := strings.CutPrefix(own, strings.TrimSuffix(m.root, "/"))
	if !inside || below != "" && below[0] != '/' || strings.HasPrefix(own, "/..") {
		return place{}, fmt.Errorf("the control group %s is not below the mounted group %s", own, m.root)
	}
	v := version2
	if m.isVersion1() {
		v = version1
	}
	top := filepath.Join(root, m.point)
	return place{version: v, dir: filepath.Join(top, below), top: top}, nil
}
