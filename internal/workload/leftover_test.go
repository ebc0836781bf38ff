package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestLeftoverCommands(t *testing.T) {
	r := valid()
	r.Prefix = "it's a/"
	for datastore, want := range map[spec.Datastore]string{
		spec.Etcd:      `kubectl etcdbench clean --endpoints 'a:1,b:1' 'it'\''s a/'`,
		spec.Kine:      `kubectl etcdbench clean --endpoints 'a:1,b:1' 'it'\''s a/'`,
		spec.ZooKeeper: `kubectl etcdbench clean --datastore ZooKeeper --endpoints 'a:1,b:1' 'it'\''s a/'`,
	} {
		if got := r.Leftover(datastore, []string{"a:1", "b:1"}).Command; got != want {
			t.Errorf("%s: got %s, wanted %s", datastore, got, want)
		}
	}
}
