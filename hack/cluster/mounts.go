package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"
)

// mountsBelow returns the mount points at or below any of the folders, in the order in which they were mounted.
func mountsBelow(folders ...string) ([]string, error) {
	mounts, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		return !slices.ContainsFunc(folders, func(folder string) bool { return isBelow(m.Mountpoint, folder) }), false
	})
	var points []string
	for _, m := range mounts {
		points = append(points, m.Mountpoint)
	}
	return points, err
}

func isBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// unmountBelow unmounts everything at or below the folders, last mounted first. A busy mount is detached and disappears
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

// unmount also succeeds if the mount is already gone, since the kernel unmounts too when namespaces end.
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
