package disk

import (
	"strings"
	"testing"
)

const mountinfo = `21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
22 21 0:20 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=1024k
30 21 259:3 / /var/lib/my\040disk rw,noatime shared:2 master:1 - xfs /dev/nvme0n1p1 rw,attr2
31 21 0:40 / /var/lib/layers rw - overlay overlay rw,lowerdir=/a
40 30 259:4 /sub /var/lib/my\040disk/etcd ro - ext4 /dev/nvme1n1 ro
41 30 259:5 / /var/lib/my\040disk/etcd rw - btrfs /dev/sdb rw,ssd
42 21 0:50 / /broken rw
`

func TestMountOf(t *testing.T) {
	for path, want := range map[string]mount{
		"/":                            {"/", "/dev/vda", "ext4", "rw,relatime,discard"},
		"/var/lib/my disks":            {"/", "/dev/vda", "ext4", "rw,relatime,discard"},
		"/var/lib/my disk":             {"/var/lib/my disk", "/dev/nvme0n1p1", "xfs", "rw,noatime,attr2"},
		"/var/lib/my disk/wal":         {"/var/lib/my disk", "/dev/nvme0n1p1", "xfs", "rw,noatime,attr2"},
		"/var/lib/my disk/etcd/member": {"/var/lib/my disk/etcd", "/dev/sdb", "btrfs", "rw,ssd"},
		"/dev/shm/a":                   {"/dev/shm", "tmpfs", "tmpfs", "rw,nosuid,size=1024k"},
		"/var/lib/layers/a":            {"/var/lib/layers", "overlay", "overlay", "rw,lowerdir=/a"},
		"/broken":                      {"/", "/dev/vda", "ext4", "rw,relatime,discard"},
	} {
		if got, err := mountOf(strings.NewReader(mountinfo), path); err != nil || got != want {
			t.Errorf("%s: got %v (%v), wanted %v", path, got, err, want)
		}
	}
	if m, err := mountOf(strings.NewReader("nothing\n"), "/a"); err == nil {
		t.Errorf("got %v of a file without mounts, wanted an error", m)
	}
}
