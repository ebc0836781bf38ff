package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// crowd is a set of runs on some addresses, advanced in random order.
type crowd struct {
	t     *testing.T
	rand  *rand.Rand
	now   time.Time
	runs  []v1alpha1.EtcdBenchmark
	order []string
	// stuck are runs whose pods never start.
	stuck map[types.UID]bool
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{t: t, rand: rand.New(rand.NewPCG(seed, 9)), now: t0, stuck: map[types.UID]bool{}}
	for i := range 2 + c.rand.IntN(5) {
		run := with(onTarget(fmt.Sprint("run-", c.rand.IntN(1000), "-", i), c.rand.IntN(2), c.addresses()...), version(fmt.Sprint(95+i)))
		if c.rand.IntN(5) == 0 {
			allows(&run)
		}
		c.stuck[run.UID] = c.rand.IntN(6) == 0
		c.runs = append(c.runs, run)
	}
	return c
}

func (c *crowd) addresses() []string {
	all := []string{"a:1", "b:1", "c:1"}
	first := c.rand.IntN(len(all))
	return all[first : first+1+c.rand.IntN(len(all)-first)]
}

// at are the other runs that have an address in common with a run, as the operator's index finds them.
func (c *crowd) at(run *v1alpha1.EtcdBenchmark) (out []*v1alpha1.EtcdBenchmark) {
	own := Addresses(run)
	for i := range c.runs {
		if InQueue(&c.runs[i]) && slices.ContainsFunc(Addresses(&c.runs[i]), func(a string) bool { return slices.Contains(own, a) }) {
			out = append(out, &c.runs[i])
		}
	}
	return out
}

// step advances one random run by one step.
func (c *crowd) step() {
	run := &c.runs[c.rand.IntN(len(c.runs))]
	c.now = c.now.Add(time.Duration(1+c.rand.IntN(1000)) * time.Millisecond)
	switch {
	case run.HasFinished():
	case run.Status.Admission == nil:
		c.ask(run)
	case !c.stuck[run.UID] && c.rand.IntN(3) == 0:
		over(metav1.ConditionTrue)(run)
	}
}

func (c *crowd) ask(run *v1alpha1.EtcdBenchmark) {
	o := Observed{Run: run}
	if AwaitsPlace(run) {
		o.Place = PlaceOf(run, c.at(run), c.now)
	}
	if d := decideQueue(o, c.now); d.Admission != nil {
		run.Status.Admission = d.Admission
		c.order = append(c.order, run.Name)
		c.checkAlone(run)
	}
}

// checkAlone: no run that was admitted earlier, and no older one that waits, has an address in common.
func (c *crowd) checkAlone(run *v1alpha1.EtcdBenchmark) {
	if allowsOthers(run) {
		return
	}
	for _, other := range c.at(run) {
		if other.UID != run.UID && (occupiesTarget(other, c.now) || waits(other) && createdBefore(other, run)) {
			c.t.Fatalf("%s was admitted beside %s", run.Name, other.Name)
		}
	}
}

// TestOneRunPerAddress takes random sets of runs through their queues. Every run is admitted, in order, once the runs
// whose pods never start have ended.
func TestOneRunPerAddress(t *testing.T) {
	for seed := range uint64(2000) {
		c := newCrowd(t, seed)
		for range 1000 {
			c.step()
		}
		for i := range c.runs {
			if c.stuck[c.runs[i].UID] && c.runs[i].Status.Admission != nil {
				over(metav1.ConditionTrue)(&c.runs[i])
			}
		}
		clear(c.stuck)
		for range 1000 {
			c.step()
		}
		for i := range c.runs {
			if !c.runs[i].HasFinished() {
				t.Fatalf("seed %d: %s was never admitted, of %v", seed, c.runs[i].Name, c.order)
			}
		}
	}
}

// TestTheFirstOfAQueueIsNext: when a run leaves the queue of an address, the oldest run that waits there is next.
func TestTheFirstOfAQueueIsNext(t *testing.T) {
	runs := []v1alpha1.EtcdBenchmark{
		with(onTarget("admitted", 1, "a:1"), admittedIn(1)), with(onTarget("allows", 2, "a:1"), allows),
		with(onTarget("second", 3, "a:1"), version("20")), with(onTarget("first", 3, "a:1"), version("9")),
	}
	if got := FirstWaiting(pointersTo(runs)); got == nil || got.Name != "first" {
		t.Errorf("found %v, wanted the run first", got)
	}
	if got := FirstWaiting(pointersTo(runs[:2])); got != nil {
		t.Errorf("found %v, wanted none", got.Name)
	}
}

// TestARunThatWaitsForTheLimitDelaysNoOther: it takes no place at its addresses until it may run.
func TestARunThatWaitsForTheLimitDelaysNoOther(t *testing.T) {
	held, younger := with(onTarget("over", 1, "a:1"), waitsFor(v1alpha1.QueueLimit)), with(onTarget("younger", 2, "a:1"), waitsFor(v1alpha1.QueueLimit))
	admitted := with(held, admittedIn(3))
	if InQueue(&held) || !InQueue(&admitted) {
		t.Errorf("a waiting run is in the queue: %t, an admitted one: %t", InQueue(&held), InQueue(&admitted))
	}
	waits := onTarget("waits", 0, "a:1")
	if got := FirstForLimit(pointersTo([]v1alpha1.EtcdBenchmark{younger, waits, held})); got == nil || got.Name != "over" {
		t.Errorf("found %v, wanted the oldest run that waits for the limit", got)
	}
	if got := FirstForLimit(pointersTo([]v1alpha1.EtcdBenchmark{waits})); got != nil {
		t.Errorf("found %s, wanted none", got.Name)
	}
}
