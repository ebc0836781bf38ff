package ownership

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// model lets pods, cleanups and others use one store, in an order that its choices determine.
type model struct {
	*world
	newStore func(*actor, *Run) Store
	choices  []uint16
	runs     []*modelRun
	acting   sync.WaitGroup
	active   map[*actor]bool
}

// modelRun is a run of the model.
type modelRun struct {
	prefix, uid string
	// claims counts the claims that have ended. claimed: a claim has succeeded. crashed: a pod has. failed are the errors of claims and releases.
	claims           int
	claimed, crashed bool
	// robbed: others have deleted the marker.
	robbed bool
	failed []error
}

const (
	mostSteps = 5000
	modelPods = 2
	// longestBurst is how many turns one after the other an actor has.
	longestBurst = 20
)

// choose returns a number below n.
func (m *model) choose(n int) int {
	if len(m.choices) == 0 || n == 0 {
		return 0
	}
	choice := m.choices[0]
	m.choices = m.choices[1:]
	return int(choice) % n
}

// start lets an actor act.
func (m *model) start(name, uid string, act func(*actor)) {
	a := &actor{name: name, uid: uid, world: m.world}
	m.world.mutex.Lock()
	m.active[a] = true
	m.world.mutex.Unlock()
	m.acting.Go(func() {
		act(a)
		m.world.mutex.Lock()
		delete(m.active, a)
		m.world.mutex.Unlock()
	})
}

func (r *modelRun) of(m *model, a *actor, pod int) (*Ownership, Store, *Run) {
	run := &Run{Prefix: r.prefix, UID: r.uid, Pod: pod, Things: 10}
	store := m.newStore(a, run)
	return New(run, store), store, run
}

// pod claims, writes while it is registered, and releases.
func (r *modelRun) pod(m *model, pod int) {
	m.start(fmt.Sprintf("pod %d of %s", pod, r.uid), r.uid, func(a *actor) {
		o, _, run := r.of(m, a, pod)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := o.Claim(ctx)
		m.world.mutex.Lock()
		r.claims++
		m.world.mutex.Unlock()
		if err != nil {
			r.ends(a, err)
			if load.FailureOf(err).Reason != results.FailurePrefixNotEmpty && !strings.Contains(err.Error(), errCrashed.Error()) {
				_, err = o.Release(context.Background())
				r.ends(a, err)
			}
			return
		}
		m.claims(r)
		for n := range modelKeys {
			wasGivenUp := m.isGivenUp(run)
			if err := o.Sign(context.Background()); err != nil {
				break
			} else if wasGivenUp {
				m.violates("%s signs after it was given up", a.name)
			}
			// A pod that has claimed sends until it is given up: a cleanup waits for longer than a sign permits to send.
			err := a.request(func() {
				if !a.world.givenUp[run.UID+run.PodKey()] && !r.robbed {
					a.put(loadKey(r.prefix, n), r.uid)
				}
			})
			if err != nil {
				r.ends(a, err)
				return
			}
		}
		_, err = o.Release(context.Background())
		r.ends(a, err)
	})
}

// claims checks that no other run owns a prefix around or below this one's.
func (m *model) claims(r *modelRun) {
	m.world.mutex.Lock()
	defer m.world.mutex.Unlock()
	r.claimed = true
	for _, other := range m.runs {
		nested := strings.HasPrefix(other.prefix, r.prefix) || strings.HasPrefix(r.prefix, other.prefix)
		if other != r && other.claimed && nested && m.owns(other) && m.owns(r) {
			m.violates("both %s and %s own their prefixes", r.uid, other.uid)
		}
	}
}

func (m *model) isGivenUp(run *Run) bool {
	m.world.mutex.Lock()
	defer m.world.mutex.Unlock()
	return m.givenUp[run.UID+run.PodKey()]
}

// owns reports whether the marker names a run that has ended its claim.
func (m *model) owns(r *modelRun) bool {
	value := string(m.keys[MarkerOf(r.prefix)].Value)
	return strings.HasPrefix(value, r.uid) && !strings.HasSuffix(value, string(claiming))
}

func (r *modelRun) ends(a *actor, err error) {
	a.world.mutex.Lock()
	defer a.world.mutex.Unlock()
	if err != nil {
		r.failed = append(r.failed, err)
		r.crashed = r.crashed || strings.Contains(err.Error(), errCrashed.Error())
	}
}

// clean cleans as the cleanup Job does.
func (r *modelRun) clean(m *model, name string, done func(error)) {
	m.start(name+" of "+r.uid, r.uid, func(a *actor) {
		o, _, _ := r.of(m, a, 0)
		signs, err := o.Signs(context.Background())
		if err == nil {
			a.seen = signs
			err = o.Clean(context.Background(), signs)
		}
		done(err)
	})
}

// others write keys that no run writes, and after the release of a run also keys with the names of its own.
func (m *model) others(r *modelRun) {
	prefix, own := r.prefix, []string{"registry/1", "registry/9"}
	if _, named := m.newStore(nil, &Run{}).(*fakeNamed); named {
		// They would be deleted.
		own = nil
	}
	for _, rest := range own {
		m.start("others at "+rest, "", func(a *actor) {
			for range 200 {
				done := false
				_ = a.request(func() {
					if done = m.isReleased(r); done {
						delete(a.world.owners, prefix+rest)
						a.put(prefix+rest, "precious")
					}
				})
				if done {
					return
				}
			}
		})
	}
	for _, rest := range []string{"notes", ".pod/zz", "registry/xx"} {
		m.start("others at "+rest, "", func(a *actor) {
			_ = a.request(func() {
				if _, exists := a.world.keys[prefix+rest]; !exists {
					a.put(prefix+rest, "precious")
				}
			})
		})
	}
}

// isReleased reports whether the run owns its prefix, and no pod of it writes or joins any more.
func (m *model) isReleased(r *modelRun) bool {
	marker, exists := m.keys[MarkerOf(r.prefix)]
	uid, isDeleting := OwnerIn(marker.Value)
	for _, item := range m.under(r.prefix) {
		exists = exists && !IsPod(r.prefix, item.Name)
	}
	if _, transactions := m.newStore(nil, &Run{}).(*fakeTransactions); transactions {
		isDeleting = !m.recurs && r.claims == modelPods && marker.Version > marker.Created
	}
	return exists && uid == r.uid && isDeleting
}

// vandal deletes the marker of a run.
func (m *model) vandal(r *modelRun) {
	m.start("vandal", r.uid, func(a *actor) {
		_ = a.request(func() {
			if _, exists := a.world.keys[MarkerOf(r.prefix)]; exists && m.owns(r) {
				a.delete(MarkerOf(r.prefix))
				r.robbed = true
			}
		})
	})
}

// run takes turns until all actors have ended.
func (m *model) run(mayCrash bool) {
	var current *actor
	burst := 0
	for step := 0; ; step++ {
		synctest.Wait()
		m.world.mutex.Lock()
		over := len(m.active) == 0
		m.world.mutex.Unlock()
		all := m.actors()
		switch {
		case over:
			m.acting.Wait()
			return
		case step > mostSteps:
			m.violates("the actors do not end")
			for _, a := range all {
				m.next(a, crashed)
			}
		case len(all) == 0:
			// All actors wait for a time. The clock of synctest jumps ahead.
			time.Sleep(time.Second)
		default:
			// One actor has several turns.
			if burst == 0 || !slices.Contains(all, current) {
				current, burst = all[m.choose(len(all))], m.choose(longestBurst)+1
			}
			burst--
			m.next(current, m.turn(mayCrash && step < mostSteps/2))
		}
	}
}

func (m *model) turn(mayCrash bool) turn {
	switch m.choose(12) {
	case 1, 2:
		return lost
	case 3:
		return refused
	case 4:
		if mayCrash {
			return crashed
		}
	}
	return answered
}

// left returns the keys that a run has made and that still exist.
func (m *model) left(r *modelRun) (names []string) {
	for name := range m.keys {
		if m.owners[name] == r.uid {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestMain lets rapid play more orders than usual, unless a flag says how many.
func TestMain(m *testing.M) {
	const orders = "3000"
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(orders); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Whatever the order of their requests, which of these are lost, and when a pod ends: no key of others changes, of nested claims
// one succeeds at most, and a run leaves nothing, or says so.
func TestOwnershipHoldsInEveryOrder(t *testing.T) {
	for name, newStore := range map[string]func(*actor, *Run) Store{"transactions": newFakeTransactions, "single keys": newFakeMarkers, "names": newFakeNamed} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				recurs := name == "transactions" && rapid.Bool().Draw(r, "recurs")
				unread := name == "transactions" && !recurs && rapid.Bool().Draw(r, "unread")
				nested := rapid.SampledFrom([]string{"bench/1/", "bench/", "bench/1/2/", "other/"}).Draw(r, "nested")
				foreign, cleans, robs := rapid.Bool().Draw(r, "foreign"), rapid.Bool().Draw(r, "cleans"), rapid.IntRange(0, 4).Draw(r, "robs") == 4
				choices := rapid.SliceOfN(rapid.Uint16(), 0, 300).Draw(r, "choices")
				var broken string
				synctest.Test(t, func(*testing.T) {
					broken = play(newStore, recurs, unread, foreign, cleans, robs, nested, choices)
				})
				if broken != "" {
					r.Fatal(broken)
				}
			})
		})
	}
}

// play plays one order, and returns what it has broken.
func play(newStore func(*actor, *Run) Store, recurs, unread, foreign, cleans, robs bool, nested string, choices []uint16) string {
	m := &model{
		world:    &world{recurs: recurs, unread: unread, keys: map[string]Item{}, owners: map[string]string{}, givenUp: map[string]bool{}, waiting: map[*actor]chan turn{}},
		newStore: newStore, choices: choices, active: map[*actor]bool{},
	}
	a, b := &modelRun{prefix: "bench/1/", uid: "run-a"}, &modelRun{prefix: nested, uid: "run-b"}
	m.runs = []*modelRun{a, b}
	for pod := range modelPods {
		a.pod(m, pod)
	}
	b.pod(m, 0)
	if cleans {
		a.clean(m, "cleanup", func(error) {})
	}
	if foreign {
		m.others(a)
	}
	if robs {
		m.vandal(a)
	}
	m.run(true)
	for _, r := range m.runs {
		if len(r.failed) == 0 && !cleans && len(m.left(r)) > 0 {
			m.violates("%s has released, and %v is left", r.uid, m.left(r))
		}
		owned := m.owns(r)
		var err error
		r.clean(m, "the last cleanup", func(e error) { err = e })
		m.run(false)
		left := m.left(r)
		switch {
		case err == nil && len(left) > 0:
			m.violates("%s was cleaned, and %v is left", r.uid, left)
		case err != nil && load.FailureOf(err).Reason != results.FailurePrefixNotEmpty:
			m.violates("%s was not cleaned: %v", r.uid, err)
		case err == nil && owned && len(m.under(r.prefix+"registry/")) > 0:
			m.violates("%s has given up its prefix, in which there are keys of others", r.uid)
		case a.robbed:
			// What is left without its marker is in the way of both runs.
		case err != nil && !foreign:
			m.violates("%s was not cleaned, without keys of others: %v", r.uid, err)
		case err != nil && !slices.Equal(left, []string{MarkerOf(r.prefix)}):
			m.violates("%s spares keys of others, and %v is left", r.uid, left)
		}
	}
	return m.broken
}
