//go:build stores

package zookeeper

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestOwnership(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	of := func(prefix, uid string) plan.Plan {
		return planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Prefix, p.RunUID = prefix, uid })
	}
	ownershiptest.Run(t, ownershiptest.Target{
		Claims: func(t *testing.T, run *ownership.Run) ownership.Store {
			return driverOf(t, of(run.Prefix, run.UID), run.Pod).ownClaims()
		},
		Own: func(prefix string, number int64) string {
			p := of(prefix, "")
			tree, keys := treeOf(p.Run, ""), p.KeyWriter()
			return tree.path(keys.AppendKey(nil, number))
		},
		Other: func(prefix string) string { return rootOf(prefix) + "/00000/mine" },
		Put: func(t *testing.T, name string) {
			for _, path := range append(ownership.Outer(name+"/"), name) {
				if path = strings.TrimSuffix(path, "/"); path != "" {
					makeNodeAt(t, client, path)
				}
			}
		},
		Remove: func(t *testing.T, name string) {
			// With the ancestors that nothing needs any more.
			for ; strings.Count(name, "/") > 1; name = name[:strings.LastIndexByte(name, '/')] {
				if err := client.Delete(name, -1); err != nil && err != zk.ErrNotEmpty && err != zk.ErrNoNode {
					t.Fatalf("%s: %v", name, err)
				}
			}
		},
		Names: func(t *testing.T, prefix string) []string {
			names := leaves(t, client, rootOf(prefix))
			slices.Sort(names)
			return names
		},
		Steal: func(t *testing.T, run *ownership.Run) {
			if err := client.Delete(rootOf(run.Prefix)+"/.owner-"+run.UID, -1); err != nil {
				t.Fatal(err)
			}
		},
		Decides: true,
	})
}

// leaves returns the znodes below a path that have no children, but not what ownership needs beside the marker.
func leaves(t *testing.T, client *zk.Conn, path string) (found []string) {
	t.Helper()
	children, _, err := client.Children(path)
	if err != nil && err != zk.ErrNoNode {
		t.Fatal(err)
	}
	for _, child := range children {
		below := leaves(t, client, path+"/"+child)
		if len(below) == 0 && child != ".last" && child != ".pod" {
			below = []string{path + "/" + child}
		}
		found = append(found, below...)
	}
	return found
}
