//go:build !linux

package disk

import (
	"runtime"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// IsEtcd: other systems do not show the open files of a process.
func IsEtcd(int) bool { return false }

// inspect refuses: file systems are known, and open files lose their names, only on Linux.
func inspect(string, bool) (results.Disk, error) {
	return results.Disk{}, load.Errorf(results.FailureTargetUnhealthy, "a disk can be measured only on Linux, found %s: run the command on the machine of etcd, or in a cluster", runtime.GOOS)
}
