package etcd

import (
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestClaimOwnsAnEmptyPrefixAndOthersJoin(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	const pods = 8
	p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods, p.Load.Connections = pods, pods })
	var claiming sync.WaitGroup
	errs := make([]error, pods)
	for i := range pods {
		d := newDriver(t, p, i)
		claiming.Go(func() { errs[i] = d.Claim(withTimeout(t)) })
	}
	claiming.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("pod %d: %v", i, err)
		}
	}
	want := map[string]string{ownPrefix + ".owner": ownUID}
	for i := range pods {
		want[fmt.Sprintf("%s.pod/%06d", ownPrefix, i)] = ""
	}
	got := keysUnder(t, client, ownPrefix)
	for key, value := range got {
		if strings.HasPrefix(key, ownPrefix+".pod/") && strings.Contains(value, "seen") {
			// The time of the claim.
			got[key] = ""
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys after the claim (-want +got):\n%s", diff)
	}
}

func TestClaimLeavesAForeignPrefixAlone(t *testing.T) {
	tests := map[string]map[string]string{
		"another run's marker": {ownPrefix + ".owner": otherUID},
		"foreign keys":         {ownPrefix + "00000001": "precious", ownPrefix + "zebra": "precious"},
		"a key like a marker":  {ownPrefix + ".ownership": ownUID},
	}
	cluster, client := oneMember(t)
	for name, keys := range tests {
		t.Run(name, func(t *testing.T) {
			empty(t, client)
			for k, v := range keys {
				put(t, client, k, v)
			}
			d := newDriver(t, planFor(cluster.Endpoints), 0)
			wantFailure(t, d.Claim(withTimeout(t)), results.FailurePrefixNotEmpty, ownPrefix)
			// A pod that goes on to release, or to clean up, must not touch it either.
			_, _ = d.Release(withTimeout(t))
			_ = cleanAtOnce(t, d)
			if diff := cmp.Diff(keys, keysUnder(t, client, ownPrefix)); diff != "" {
				t.Errorf("foreign keys were touched (-want +got):\n%s", diff)
			}
		})
	}
}

// empty deletes the keys that another case has left under the prefix.
func empty(t *testing.T, client *clientv3.Client) {
	t.Helper()
	if _, err := client.Delete(t.Context(), ownPrefix, clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
}

// neighbours are keys directly before and after the prefix.
var neighbours = map[string]string{
	"etcdbench/11111111":        "shorter",
	"etcdbench/11111110/1":      "before",
	"etcdbench/111111110000001": "between",
	"etcdbench/1111111100":      "after a slash",
	"etcdbench/11111112/":       "after",
}

// fill writes keys of the load by number, many in one transaction.
func fill(t *testing.T, client *clientv3.Client, p plan.Plan, numbers []int64) {
	t.Helper()
	keys := p.KeyWriter()
	const most = 100
	for len(numbers) > 0 {
		n := min(most, len(numbers))
		var puts []clientv3.Op
		for _, number := range numbers[:n] {
			puts = append(puts, clientv3.OpPut(string(keys.AppendKey(nil, number)), "v"))
		}
		if _, err := client.Txn(t.Context()).Then(puts...).Commit(); err != nil {
			t.Fatal(err)
		}
		numbers = numbers[n:]
	}
}

func upTo(n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func TestTheLastPodDeletesAllKeysAndNothingElse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		count   int64
		keySize int32
		written []int64
	}{
		"nothing":                   {count: 10_000, keySize: 8},
		"all, a block exactly":      {count: 1_000, keySize: 3, written: upTo(1_000)},
		"all, and one":              {count: 1_001, keySize: 4, written: upTo(1_001)},
		"all of several blocks":     {count: 3_500, keySize: 8, written: upTo(3_500)},
		"the ends only":             {count: 50_000, keySize: 8, written: []int64{0, 49_999}},
		"few in a hundred millions": {count: 100_000_000, keySize: 9, written: []int64{7, 999, 1_000, 8_999, 9_000, 9_001, 12_345_678, 99_999_999}},
		"one key":                   {count: 1, keySize: 1, written: []int64{0}},
	}
	cluster, client := oneMember(t)
	for k, v := range neighbours {
		put(t, client, k, v)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Workload.Put.Keys.Count, p.Workload.Put.Keys.SizeBytes = tc.count, tc.keySize })
			d := newDriver(t, p, 0)
			if err := d.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			fill(t, client, p, tc.written)
			cleaning, err := d.Release(withTimeout(t))
			if err != nil || cleaning != results.CleaningKeysDeleted {
				t.Fatalf("got %s, %v", cleaning, err)
			}
			if diff := cmp.Diff(neighbours, keysUnder(t, client, "etcdbench")); diff != "" {
				t.Errorf("keys after the release (-want +got):\n%s", diff)
			}
			if n := d.Requests()[spec.RPCTxn][results.PhaseControl]; n > 50 {
				t.Errorf("deleting %d of %d possible keys took %d transactions", len(tc.written), tc.count, n)
			}
		})
	}
}

// A huge deletion stalls etcd: no transaction may delete more than a block.
func TestDeletionIsPacedInBlocks(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints)
	d := newDriver(t, p, 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	fill(t, client, p, upTo(4_321))
	deletions := client.Watch(withTimeout(t), ownPrefix, clientv3.WithPrefix(), clientv3.WithFilterPut(), clientv3.WithCreatedNotify())
	<-deletions
	if _, err := d.Release(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	byRevision, total := map[int64]int{}, 0
	const wanted = 4_321 + 2 // the marker, and the pod's own key
	for total < wanted {
		response, ok := <-deletions
		if !ok {
			t.Fatalf("the watch ended after %d of %d deletions", total, wanted)
		}
		for _, e := range response.Events {
			byRevision[e.Kv.ModRevision]++
			total++
		}
	}
	for revision, n := range byRevision {
		if n > 1_000 {
			t.Errorf("revision %d deleted %d keys, wanted at most 1000", revision, n)
		}
	}
}

func TestAPodThatIsNotTheLastWaitsForTheDeletion(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods = 2 })
	first, second := newDriver(t, p, 0), newDriver(t, p, 1)
	for _, d := range []*Driver{first, second} {
		if err := d.Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, client, p, upTo(10))
	released := make(chan results.Cleaning)
	go func() {
		cleaning, _ := first.Release(withTimeout(t))
		released <- cleaning
	}()
	// The first pod has released once its key is gone; the load's keys stay.
	gone := client.Watch(withTimeout(t), first.run.PodKey(), clientv3.WithRev(1), clientv3.WithFilterPut())
	<-gone
	if n := len(keysUnder(t, client, ownPrefix+"0")); n != 10 {
		t.Errorf("%d of 10 keys are left while a pod may still write", n)
	}
	if cleaning, err := second.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Fatalf("the last pod: %s, %v", cleaning, err)
	}
	if cleaning := <-released; cleaning != results.CleaningKeysDeleted {
		t.Errorf("the first pod reports %s, wanted that it saw the keys deleted", cleaning)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// A pod that joins while another pod deletes, which was the last one until then, keeps its keys and its marker.
func TestASweepStopsForAPodThatJoins(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	for name, written := range map[string][]int64{"before it writes": nil, "while it writes": upTo(5)} {
		t.Run(name, func(t *testing.T) {
			empty(t, client)
			p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods = 2 })
			first, late := newDriver(t, p, 0), newDriver(t, p, 1)
			for _, d := range []*Driver{first, late} {
				if err := d.Claim(withTimeout(t)); err != nil {
					t.Fatal(err)
				}
			}
			fill(t, client, p, written)
			before := keysUnder(t, client, ownPrefix)
			page := ownership.Batch{Keys: []ownership.Key{{Name: ownPrefix + "00000000"}, {Name: ownPrefix + "00000001"}}}
			if done, err := first.claims.Delete(withTimeout(t), page, math.MaxInt64-1); done || err != nil {
				t.Errorf("deleting keys: %v, %v", done, err)
			}
			if done, err := first.claims.Abandon(withTimeout(t), math.MaxInt64-1); done || err != nil {
				t.Errorf("deleting the marker: %v, %v", done, err)
			}
			if diff := cmp.Diff(before, keysUnder(t, client, ownPrefix)); diff != "" {
				t.Errorf("a pod that still writes lost keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAForeignKeyStaysAndIsReported(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints)
	d := newDriver(t, p, 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	fill(t, client, p, upTo(5))
	stray := d.plan.Prefix + "99999999"
	put(t, client, stray, "precious")
	cleaning, err := d.Release(withTimeout(t))
	if err == nil || cleaning != results.CleaningKeysLeft {
		t.Errorf("got %s and error %v, wanted that keys are left", cleaning, err)
	}
	want := map[string]string{stray: "precious", d.run.Marker(): ownUID}
	if diff := cmp.Diff(want, keysUnder(t, client, ownPrefix)); diff != "" {
		t.Errorf("keys after the release (-want +got):\n%s", diff)
	}
}

func TestCleanDeletesWhatKilledPodsLeft(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods = 3 })
	for i := range p.Pods() {
		if err := newDriver(t, p, i).Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, client, p, upTo(2_500))
	for k, v := range neighbours {
		put(t, client, k, v)
	}
	for range 2 {
		// The second time nothing is left to delete, and Clean succeeds.
		if err := cleanAtOnce(t, newDriver(t, p, 0)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(neighbours, keysUnder(t, client, "etcdbench")); diff != "" {
			t.Errorf("keys after the cleaning (-want +got):\n%s", diff)
		}
	}
}

// A member that is down must not prevent the deletion of a run's keys.
func TestCleanNeedsOneMemberOnly(t *testing.T) {
	cluster, client := oneMember(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	p := planFor([]string{closed.Addr().String(), cluster.Endpoints[0]})
	put(t, client, ownPrefix+".owner", ownUID)
	fill(t, client, p, upTo(5))
	if err := cleanAtOnce(t, newDriver(t, p, 0)); err != nil {
		t.Fatal(err)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}
