package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// node holds what the kernel counts for the whole node. Nothing depends on it, so what cannot be read is left out.
type node struct {
	// used and all are processor times, in the kernel's ticks; all is 0 if they are not known.
	used, all uint64
	// pressure is, for cpu and io, how long some task has waited.
	pressure map[string]time.Duration
}

// resources are the files of /proc/pressure that are read.
var resources = map[string]results.ProcessFigure{
	"cpu": results.ProcessNodeCPUPressureRatio, "io": results.ProcessNodeIOPressureRatio,
}

func readNode(root string) node {
	n := node{pressure: map[string]time.Duration{}}
	n.used, n.all = readStat(root)
	for resource := range resources {
		text, err := os.ReadFile(filepath.Join(root, "proc", "pressure", resource))
		if err != nil {
			continue
		}
		if total, known := someWaited(string(text)); known {
			n.pressure[resource] = total
		}
	}
	return n
}

// readStat reads the first line of /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal. The
// times of guests after it are parts of user and nice.
func readStat(root string) (used, all uint64) {
	const idle, iowait, steal = 3, 4, 7
	text, err := os.ReadFile(filepath.Join(root, "proc", "stat"))
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) <= steal+1 || fields[0] != "cpu" {
		return 0, 0
	}
	for i, field := range fields[1 : steal+2] {
		ticks, err := strconv.ParseUint(field, 10, 63)
		if err != nil {
			return 0, 0
		}
		all += ticks
		if i != idle && i != iowait {
			used += ticks
		}
	}
	return used, all
}

// someWaited reads the total of the line "some" of a file of /proc/pressure, in microseconds.
func someWaited(text string) (time.Duration, bool) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "some ") {
			continue
		}
		if _, total, found := strings.Cut(line, "total="); found {
			us, err := strconv.ParseInt(strings.TrimSpace(total), 10, 53)
			return time.Duration(us) * time.Microsecond, err == nil
		}
	}
	return 0, false
}

// since sets the figures of the interval between two readings.
func (n node) since(before node, elapsed time.Duration, set func(results.ProcessFigure, float64)) {
	if before.all > 0 && n.all > before.all && n.used >= before.used {
		set(results.ProcessNodeBusyRatio, float64(n.used-before.used)/float64(n.all-before.all))
	}
	for resource, figure := range resources {
		then, known := before.pressure[resource]
		now, stillKnown := n.pressure[resource]
		if known && stillKnown && now >= then && elapsed > 0 {
			set(figure, min((now-then).Seconds()/elapsed.Seconds(), 1))
		}
	}
}
