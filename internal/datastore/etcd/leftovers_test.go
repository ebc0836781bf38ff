package etcd

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// firstLease is the first ID of the leases of the run in these tests.
const firstLease = 7 * workload.LeaseIDs

// killed leaves what a run leaves that was killed: its marker, the key of its pod, keys of its load, and those of leases.
func killed(t *testing.T, endpoints []string, client *clientv3.Client, prefix, uid string, keys int) {
	t.Helper()
	d := New(under(endpoints, prefix, uid), 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		put(t, client, fmt.Sprintf("%s%08d", prefix, i), "value")
	}
	put(t, client, prefix+".lock/1/a", "lock")
	put(t, client, prefix+"registry/pods/namespace-1/pod-000000000001", "pod")
}

func leftovers(t *testing.T, endpoints []string) *ownership.Leftovers {
	t.Helper()
	l := NewLeftovers(plan.Target{Endpoints: endpoints})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// grantID grants a lease with this ID.
func grantID(t *testing.T, client *clientv3.Client, id clientv3.LeaseID) {
	t.Helper()
	leases := etcdserverpb.NewLeaseClient(client.ActiveConnection())
	if _, err := leases.LeaseGrant(withTimeout(t), &etcdserverpb.LeaseGrantRequest{ID: int64(id), TTL: 600}); err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, l *ownership.Leftovers, prefix string) ownership.Leftover {
	t.Helper()
	found, err := l.Look(withTimeout(t), prefix)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLeftoversAreListed(t *testing.T) {
	cluster, client := oneMember(t)
	before := time.Now().Add(-time.Second)
	killed(t, cluster.Endpoints, client, "etcdbench/22222222/", otherUID, 3)
	killed(t, cluster.Endpoints, client, "etcdbench/team/run/", ownUID, 0)
	killed(t, cluster.Endpoints, client, "etcdbench/zoo/a/", ownUID, 0)
	for _, key := range []string{"etcdbench/33333333/00000001", "etcdbench/33333333/00000002", "etcdbench/alone", "etcdbench/team/note", "etcdbench/zoo/z", "other/key"} {
		put(t, client, key, "value")
	}
	found, err := leftovers(t, cluster.Endpoints).List(withTimeout(t), "etcdbench/")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		prefix, owner string
		keys          int64
	}
	want := []row{
		{"etcdbench/22222222/", otherUID, 7}, {"etcdbench/33333333/", "", 2}, {"etcdbench/alone", "", 1},
		{"etcdbench/team/", "", 5}, {"etcdbench/team/run/", ownUID, 4},
		{"etcdbench/zoo/", "", 5}, {"etcdbench/zoo/a/", ownUID, 4},
	}
	var got []row
	for _, l := range found {
		got = append(got, row{l.Prefix, l.Owner, l.Keys})
		if known := l.Owner != ""; known != l.Began.After(before) || known != l.Seen.After(before) {
			t.Errorf("%s: got the times %s and %s", l.Prefix, l.Began, l.Seen)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("wanted %v, got %v", want, got)
	}
}

func TestALeftoverIsRemoved(t *testing.T) {
	cluster, client := oneMember(t)
	const keys = 2*pageKeys + 10
	killed(t, cluster.Endpoints, client, ownPrefix, ownUID, keys)
	killed(t, cluster.Endpoints, client, "etcdbench/22222222/", otherUID, 3)
	for _, id := range []clientv3.LeaseID{firstLease, firstLease + 5, firstLease - 1} {
		if _, err := clientv3.NewLease(client).Grant(withTimeout(t), 600); err != nil {
			t.Fatal(err)
		}
		grantID(t, client, id)
	}
	other := keysUnder(t, client, "etcdbench/22222222/")
	l := leftovers(t, cluster.Endpoints)
	done, err := l.Remove(withTimeout(t), look(t, l, ownPrefix), firstLease)
	if err != nil || done != (ownership.Removal{Keys: keys + 4, Leases: 2}) {
		t.Errorf("got %+v and %v", done, err)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
	if left := keysUnder(t, client, "etcdbench/22222222/"); len(left) != len(other) {
		t.Errorf("keys of the other run: wanted %v, got %v", other, left)
	}
	leases, err := client.Leases(withTimeout(t))
	if err != nil || len(leases.Leases) != 4 {
		t.Errorf("wanted the four leases of others, got %v and %v", leases, err)
	}
}

// Keys that no run writes stay, and so does the marker.
func TestForeignKeysAmongLeftoversStay(t *testing.T) {
	cluster, client := oneMember(t)
	killed(t, cluster.Endpoints, client, ownPrefix, ownUID, 5)
	for _, key := range []string{"config", "00000002x", "zebra", ".note", "registry/pods/other", ".lock/mine", ".storm/0/1/x", ".pod/zz"} {
		put(t, client, ownPrefix+key, "of others")
	}
	l := leftovers(t, cluster.Endpoints)
	done, err := l.Remove(withTimeout(t), look(t, l, ownPrefix), firstLease)
	if err != nil || done.Foreign != 8 {
		t.Errorf("got %+v and %v", done, err)
	}
	left := keysUnder(t, client, ownPrefix)
	for _, key := range []string{"config", "zebra", ".note", "00000002x", "registry/pods/other", ".lock/mine", ".storm/0/1/x", ".pod/zz", ".owner"} {
		if _, found := left[ownPrefix+key]; !found || len(left) != 9 {
			t.Errorf("wanted %s among nine keys, got %v", key, left)
		}
	}
}

// Nothing is deleted if a pod has shown that it lives, another one has joined, or another run owns the prefix.
func TestALeftoverThatChangesStays(t *testing.T) {
	cluster, client := oneMember(t)
	for name, change := range map[string]func(t *testing.T){
		"a sign of life": func(t *testing.T) { put(t, client, ownPrefix+".pod/000000", "again") },
		"another pod":    func(t *testing.T) { put(t, client, ownPrefix+".pod/000001", "new") },
		"another owner":  func(t *testing.T) { put(t, client, ownPrefix+".owner", otherUID) },
		"the same owner": func(t *testing.T) { put(t, client, ownPrefix+".owner", ownUID) },
	} {
		t.Run(name, func(t *testing.T) {
			killed(t, cluster.Endpoints, client, ownPrefix, ownUID, 5)
			l := leftovers(t, cluster.Endpoints)
			old := look(t, l, ownPrefix)
			if !old.IsSame(look(t, l, ownPrefix)) {
				t.Error("two looks at the same keys differ")
			}
			change(t)
			if old.IsSame(look(t, l, ownPrefix)) {
				t.Error("the change is not seen")
			}
			before := keysUnder(t, client, ownPrefix)
			if _, err := l.Remove(withTimeout(t), old, firstLease); !errors.Is(err, ownership.ErrChanged) {
				t.Errorf("wanted ownership.ErrChanged, got %v", err)
			}
			if after := keysUnder(t, client, ownPrefix); len(after) != len(before) {
				t.Errorf("wanted %v, got %v", before, after)
			}
			if _, err := client.Delete(withTimeout(t), ownPrefix, clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A key beside one that is called as its marker belongs to no run.
func TestAKeyThatIsCalledAsAMarkerOwnsNothing(t *testing.T) {
	cluster, client := oneMember(t)
	for _, key := range []string{"etcdbench/foo", "etcdbench/foo.owner", "etcdbench/foo77"} {
		put(t, client, key, ownUID)
	}
	l := leftovers(t, cluster.Endpoints)
	found, err := l.List(withTimeout(t), "etcdbench/")
	if err != nil || len(found) != 3 {
		t.Fatalf("found %+v, %v", found, err)
	}
	for _, one := range found {
		if _, err := l.Remove(withTimeout(t), one, firstLease); one.Owner != "" || !errors.Is(err, ownership.ErrChanged) {
			t.Errorf("%+v was removed: %v", one, err)
		}
	}
}

// Keys of others, in many folders, cost a few requests.
func TestManyKeysOfOthersAreListedByFewRequests(t *testing.T) {
	cluster, client := oneMember(t)
	for folder := range 60 {
		for key := range 20 {
			put(t, client, fmt.Sprintf("etcdbench/app/%d/%d", folder, key), "x")
		}
	}
	l := leftovers(t, cluster.Endpoints)
	found, err := l.List(withTimeout(t), "etcdbench/")
	if err != nil || len(found) != 1 || found[0].Keys != 1_200 {
		t.Fatalf("found %+v, %v", found, err)
	}
	sent := uint64(0)
	for _, phases := range l.Searcher.(*searcher).Requests() {
		for _, n := range phases {
			sent += n
		}
	}
	if sent > 10 {
		t.Errorf("the list took %d requests", sent)
	}
}
