package zookeeper

import (
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// A key is the prefix and a decimal number. Its znode is root/folder/leaf: the leaf is the last leafDigits digits of
// the number, the folder all digits before them. So every znode has few enough children to be listed.
//
// Beside the folders, the root has these children:
//   - .owner-UID, the marker, which names the owner of the root;
//   - .pod, with one child for each pod that may still write;
//   - .lock, with a child for each name for which clients contend;
//   - .last, while the last pod deletes, with the index of that pod.
const (
	leafDigits = 3
	perFolder  = 1000
)

// gaveUp is the data of .last after the last pod has found foreign znodes.
const gaveUp = "gave up"

// ownedBy precedes the UID of the run in the data of a root.
const ownedBy = "etcdbench "

// tree has the paths of a run's znodes.
type tree struct {
	prefix, root, uid string
	keys              workload.KeyWriter
	// written is how many keys the run can write, from the first one on.
	written int64
	// names is the number of names for which clients contend.
	names int
}

// treeOf returns the tree of the run with a UID.
func treeOf(r workload.Run, uid string) tree {
	return tree{
		prefix: r.Prefix, root: rootOf(r.Prefix), uid: uid,
		keys: r.KeyWriter(), written: r.WrittenKeys(), names: r.ContestNames(),
	}
}

// rootOf returns the path of a prefix.
func rootOf(prefix string) string { return "/" + strings.Trim(prefix, "/") }

// path returns the path of a key.
func (t *tree) path(key []byte) string {
	digits := key[len(t.prefix):]
	folder := len(digits) - leafDigits
	return t.root + "/" + string(digits[:folder]) + "/" + string(digits[folder:])
}

func (t *tree) marker() string { return t.root + "/.owner-" + t.uid }

func (t *tree) pods() string { return t.root + "/.pod" }

func (t *tree) pod(index int) string { return fmt.Sprintf("%s/%06d", t.pods(), index) }

const (
	// mostOps and mostBytes bound a transaction. One that is larger than a server's jute.maxbuffer can break the whole
	// ensemble.
	mostOps   = 500
	mostBytes = 128 << 10
	// opBytes is an upper bound of what an operation has beside its path.
	opBytes = 64
)

// batch is how many operations on paths of this length a transaction may have.
func batch(pathBytes int) int { return min(mostOps, mostBytes/(pathBytes+opBytes)) }

func (t *tree) last() string { return t.root + "/.last" }

// folders is the number of folders.
func (t *tree) folders() int64 { return (t.written + perFolder - 1) / perFolder }

// folder returns the path of a folder by its number.
func (t *tree) folder(number int64) string {
	key := t.path(t.keys.AppendKey(nil, number*perFolder))
	return key[:strings.LastIndexByte(key, '/')]
}

func (t *tree) locks() string { return t.root + "/.lock" }

// name returns the path of a name for which clients contend, by its number.
func (t *tree) name(number int) string {
	return fmt.Sprintf("%s/%0*d", t.locks(), leafDigits, number)
}

// parents returns the paths of what exists before the load: the folders of the keys, and the names.
func (t *tree) parents() (paths []string) {
	for number := range t.folders() {
		paths = append(paths, t.folder(number))
	}
	if t.names > 0 {
		paths = append(paths, t.locks())
	}
	for number := range t.names {
		paths = append(paths, t.name(number))
	}
	return paths
}
