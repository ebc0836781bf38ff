package disk

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// mount is a line of /proc/self/mountinfo.
type mount struct{ point, device, fileSystem, options string }

// mountOf returns the mount of an absolute path without symbolic links: of all mount points around it the longest, and of those
// at one point the last.
func mountOf(mountinfo io.Reader, path string) (found mount, err error) {
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		m, ok := parseMount(lines.Text())
		if ok && isWithin(path, m.point) && len(m.point) >= len(found.point) {
			found = m
		}
	}
	if err := lines.Err(); err != nil {
		return found, err
	}
	if found.point == "" {
		return found, fmt.Errorf("no mount point is around %s", path)
	}
	return found, nil
}

func isWithin(path, point string) bool {
	return path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
}

// parseMount reads a line: ID, parent, device number, root, mount point, options, more fields, a hyphen, file system, device and
// options of the file system.
func parseMount(line string) (mount, bool) {
	fields := strings.Fields(line)
	hyphen := slices.Index(fields, "-")
	if hyphen < 6 || len(fields) < hyphen+4 {
		return mount{}, false
	}
	options := strings.Split(fields[5], ",")
	for _, o := range strings.Split(fields[hyphen+3], ",") {
		if !slices.Contains(options, o) {
			options = append(options, o)
		}
	}
	return mount{unescape(fields[4]), unescape(fields[hyphen+2]), fields[hyphen+1], strings.Join(options, ",")}, true
}

// unescape replaces the octal numbers of spaces and of other special characters.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// refusals say why a file system shows nothing about a disk.
var refusals = map[string]string{
	"tmpfs": inMemory, "ramfs": inMemory, "devtmpfs": inMemory,
	"overlay": inContainer, "aufs": inContainer, "fuse-overlayfs": inContainer, "fuse.fuse-overlayfs": inContainer,
}

const (
	inMemory    = "lies in memory, where a flush does nothing: name a folder on a disk, for example that of etcd's data"
	inContainer = "is the writable layer of a container, which etcd must not use: name a folder on a volume or on a disk of the node"
)
