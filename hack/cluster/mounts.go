package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// mount is one line of /proc/self/mountinfo.
type mount struct {
	point, fsType string
}

func readMounts() ([]mount, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMounts(string(content)), nil
}

// parseMounts reads the mount point (field 5) and the type (the field after the separator "-").
func parseMounts(mountinfo string) []mount {
	var mounts []mount
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		separator := slices.Index(fields, "-")
		if separator < 5 || separator+1 >= len(fields) {
			continue
		}
		mounts = append(mounts, mount{point: unescape(fields[4]), fsType: fields[separator+1]})
	}
	return mounts
}

// unescape decodes the octal escapes (\040 is a blank) of the kernel's mount tables.
func unescape(field string) string {
	var decoded strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) {
			if code, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				decoded.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		decoded.WriteByte(field[i])
	}
	return decoded.String()
}

// mountsBelow returns the mount points at or below any of the folders, in the order in which they were mounted.
func mountsBelow(folders ...string) ([]string, error) {
	mounts, err := readMounts()
	var points []string
	for _, m := range mounts {
		if slices.ContainsFunc(folders, func(folder string) bool { return isBelow(m.point, folder) }) {
			points = append(points, m.point)
		}
	}
	return points, err
}

func isBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// unmountBelow unmounts everything at or below the folders, last mounted first. What is busy is detached: it goes away
// with its last user.
func unmountBelow(folders ...string) error {
	points, err := mountsBelow(folders...)
	if err != nil {
		return err
	}
	var failed []error
	for _, point := range slices.Backward(points) {
		if err := unmount(point); err != nil {
			failed = append(failed, fmt.Errorf("unmounting %s: %w", point, err))
		}
	}
	return errors.Join(failed...)
}

// unmount succeeds too when the mount is already gone, since the kernel also unmounts as namespaces end.
func unmount(point string) error {
	err := syscall.Unmount(point, 0)
	if errors.Is(err, syscall.EBUSY) {
		err = syscall.Unmount(point, syscall.MNT_DETACH)
	}
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return err
}
