package ownership

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// markerState follows the UID in the marker of a store without transactions over several keys. So a pod first writes its own
// key, and then reads the keys of others. If two pods do so at the same time, at least one of them reads what the other has
// written.
type markerState string

// The states of a marker. In claiming, client pod 0 checks that the prefix holds no other key, and the other pods wait. In
// owned, pods may join and write. In deleting, no further pod may join.
const (
	claiming markerState = " claiming"
	owned    markerState = ""
	deleting markerState = " deleting"
)

// OwnerIn returns the owner that a marker names, and whether its pods have begun to delete.
func OwnerIn(marker []byte) (uid string, isDeleting bool) {
	uid, isDeleting = strings.CutSuffix(string(marker), string(deleting))
	return strings.TrimSuffix(uid, string(claiming)), isDeleting
}

// marker is the marker of a prefix.
type marker struct {
	// item is nil if there is no marker. own: it names this run.
	item  *Item
	own   bool
	state markerState
}

func (m marker) is(s markerState) bool { return m.own && m.state == s }

// Markers makes a claim of single keys. A store embeds it in its own Store.
type Markers struct {
	KV
	Run  *Run
	Keys Keyspace
	// Page is how many keys one request lists; 0 is 1,000.
	Page int64
	// marked: this pod has sent a request to create the marker.
	marked bool
}

func (m *Markers) read(ctx context.Context) (found marker, err error) {
	found.item, err = m.Get(ctx, m.Run.Marker())
	if err != nil || found.item == nil {
		return found, err
	}
	state, own := strings.CutPrefix(string(found.item.Value), m.Run.UID)
	return marker{item: found.item, own: own, state: markerState(state)}, nil
}

// set changes the state of the run's marker.
func (m *Markers) set(ctx context.Context, old marker, s markerState) error {
	done, err := m.Swap(ctx, m.Run.Marker(), []byte(m.Run.UID+string(s)), old.item.Version)
	if err != nil || done {
		return err
	}
	now, err := m.read(ctx)
	if err == nil && !now.is(s) {
		err = ErrNotAlone
	}
	return err
}

// Marker implements Store.
func (m *Markers) Marker() string { return m.Run.Marker() }

// Prepare implements Store.
func (m *Markers) Prepare(context.Context) error { return nil }

// Owner implements Store. Client pod 0 looks around for all pods.
func (m *Markers) Owner(ctx context.Context, prefix string) (Owner, error) {
	if m.Run.Pod > 0 && prefix != m.Run.Prefix {
		return Owner{Absent: true}, nil
	}
	found, err := m.Get(ctx, MarkerOf(prefix))
	if err != nil || found == nil {
		return Owner{Absent: true}, err
	}
	uid, _ := OwnerIn(found.Value)
	return Owner{Owned: true, UID: uid}, nil
}

// Claim implements Store. Client pod 0 makes the run the owner. It registers no pod.
func (m *Markers) Claim(ctx context.Context, absent []string) (won bool, err error) {
	if m.Run.Pod == 0 {
		err = m.own(ctx, absent)
	}
	if err != nil && m.marked && ctx.Err() == nil && load.FailureOf(err).Reason != results.FailurePrefixNotEmpty {
		// load.Session takes an error such as TLSFailed as a sign that the claim has written nothing.
		err = load.Errorf(results.FailureTargetUnhealthy, "claiming the prefix %s failed after the marker was sent: %w", m.Run.Prefix, err)
	}
	if err == nil {
		err = m.awaitOwned(ctx)
	}
	return false, err
}

// own makes the run the owner of the prefix. It checks for other keys twice: before it writes the marker, so that a refused
// run usually writes nothing; and after that, because another run may claim a prefix around or below this one meanwhile.
func (m *Markers) own(ctx context.Context, absent []string) error {
	found, err := m.read(ctx)
	if err == nil && found.item == nil {
		found, err = m.create(ctx)
	}
	if err != nil || !found.is(claiming) {
		return err
	}
	if refused := m.checkEmpty(ctx, absent); refused != nil {
		if _, err := m.DeleteAll(ctx, found.item.Key); err != nil {
			return err
		}
		return refused
	}
	return m.set(ctx, found, owned)
}

func (m *Markers) create(ctx context.Context) (marker, error) {
	if err := m.checkEmpty(ctx, nil); err != nil {
		return marker{}, err
	}
	m.marked = true
	if _, err := m.Create(ctx, m.Run.Marker(), []byte(m.Run.UID+string(claiming))); err != nil {
		return marker{}, err
	}
	return m.read(ctx)
}

// checkEmpty fails if a run owns one of the prefixes around this one, which were absent, or if the prefix has a key besides
// the marker.
func (m *Markers) checkEmpty(ctx context.Context, absent []string) error {
	for _, prefix := range absent {
		owner, err := m.Owner(ctx, prefix)
		if err == nil && owner.Owned {
			err = m.ownedBy(owner.UID, prefix)
		}
		if err != nil {
			return err
		}
	}
	found, err := m.List(ctx, m.Run.Prefix, "", 2)
	for _, item := range found {
		if item.Name != m.Run.Marker() {
			return m.refuse(ctx, item.Name)
		}
	}
	return err
}

func (m *Markers) ownedBy(uid, prefix string) error {
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the run %q owns the prefix %s, and the prefix of this run is %s. Wait until that run has ended and its keys are deleted, or choose another spec.target.keyPrefix",
		uid, prefix, m.Run.Prefix)
}

// refuse returns why the run may not use its prefix: because of this key under it.
func (m *Markers) refuse(ctx context.Context, key string) error {
	prefix, isMarker := strings.CutSuffix(key, MarkerOf(""))
	found, err := m.Get(ctx, key)
	switch {
	case err != nil:
		return err
	case found == nil && key == m.Run.Marker():
		return m.tooLate()
	case found == nil || !isMarker:
		return ErrHoldsForeign(m.Run.Prefix, fmt.Sprintf("such as %q", key))
	}
	uid, _ := OwnerIn(found.Value)
	if uid == m.Run.UID {
		return m.tooLate()
	}
	return m.ownedBy(uid, prefix)
}

func (m *Markers) tooLate() error {
	return load.Errorf(results.FailurePrefixNotEmpty, "client pod %d started when the other client pods were "+
		"already deleting the keys of this run under %s. Find out why it started so late", m.Run.Pod, m.Run.Prefix)
}

// awaitOwned waits until client pod 0 has claimed the prefix, or ctx ends.
func (m *Markers) awaitOwned(ctx context.Context) error {
	for {
		found, err := m.read(ctx)
		switch {
		case err != nil || found.is(owned):
			return err
		case found.item != nil && !found.is(claiming):
			return m.refuse(ctx, m.Run.Marker())
		}
		if err := load.Pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// Join implements Store: it writes the pod's key, and then reads the marker. A pod that deletes the run's keys does the
// reverse: it writes the marker, and then reads the keys of pods.
func (m *Markers) Join(ctx context.Context) (joined bool, err error) {
	if _, err := m.Create(ctx, m.Run.PodKey(), m.Run.LifeSign()); err != nil {
		return false, err
	}
	registered, err := m.Get(ctx, m.Run.PodKey())
	if err == nil && registered == nil {
		err = fmt.Errorf("the target has not kept the key %s", m.Run.PodKey())
	}
	if err != nil {
		return false, err
	}
	found, err := m.read(ctx)
	if err != nil || found.is(owned) {
		return err == nil, err
	}
	if err := m.unregister(ctx); err != nil {
		return false, err
	}
	return false, m.refuse(ctx, m.Run.Marker())
}

// Sign implements Store. A pod that was given up has no key: it is deleted before the run's objects are.
func (m *Markers) Sign(ctx context.Context) (done bool, err error) {
	own, err := m.Get(ctx, m.Run.PodKey())
	if err != nil || own == nil {
		return false, err
	}
	done, err = m.Swap(ctx, m.Run.PodKey(), m.Run.LifeSign(), own.Version)
	if err == nil && !done {
		// The next sign finds out whether the key is gone. Two signs at a time do this, too.
		err = context.DeadlineExceeded
	}
	return done, err
}

// Signs implements Store.
func (m *Markers) Signs(ctx context.Context) (map[string]int64, error) {
	pods, err := m.pods(ctx)
	signs := make(map[string]int64, len(pods))
	for _, pod := range pods {
		signs[pod.Name] = pod.Version
	}
	return signs, err
}

// mostPods is the most that a run can have.
const mostPods = 1000

// pods returns the keys of the pods that may still write.
func (m *Markers) pods(ctx context.Context) (pods []Key, err error) {
	found, err := m.List(ctx, m.Run.Prefix+PodsFolder, "", mostPods)
	for _, item := range found {
		if IsPod(m.Run.Prefix, item.Name) {
			pods = append(pods, item.Key)
		}
	}
	return pods, err
}

// removeAttempts is how often a key that changes meanwhile is deleted.
const removeAttempts = 5

// unregister deletes the key of this pod, whatever its version is.
func (m *Markers) unregister(ctx context.Context) error {
	for range removeAttempts {
		found, err := m.Get(ctx, m.Run.PodKey())
		if err != nil || found == nil {
			return err
		}
		if gone, err := m.DeleteAll(ctx, found.Key); err != nil || gone {
			return err
		}
	}
	return fmt.Errorf("deleting %q failed %d times, because something else wrote it each time", m.Run.PodKey(), removeAttempts)
}

// Foreign implements Store.
func (m *Markers) Foreign(ctx context.Context) (string, error) {
	found, err := m.List(ctx, m.Run.Prefix, "", 2)
	for _, item := range found {
		if item.Name != m.Run.Marker() {
			return fmt.Sprintf("such as %q", item.Name), nil
		}
	}
	return "none any more", err
}

// isNewer reports whether an item cannot be the run's, whose marker is gone or names another run.
func (m marker) isNewer(item Item) bool {
	return m.item != nil && item.Created >= m.item.Created
}

// Remains implements Store. The keys of another run are newer than its marker, which is read after them: a run that claims in
// between has no older keys.
func (m *Markers) Remains(ctx context.Context) (what string, err error) {
	found, err := m.List(ctx, m.Run.Prefix+PodsFolder, "", mostPods)
	if err != nil {
		return "", err
	}
	left := slices.DeleteFunc(found, func(item Item) bool { return !IsPod(m.Run.Prefix, item.Name) })
	for after, more := "", true; more && len(left) == 0; {
		page, err := m.List(ctx, m.Keys.Folder, after, m.pageKeys())
		if err != nil {
			return "", err
		}
		for _, item := range page {
			if after = item.Name; m.Keys.IsOwn(item.Name) {
				left = append(left, item)
			}
		}
		more = len(page) > 0
	}
	now, err := m.read(ctx)
	if err != nil || now.own {
		return "", err
	}
	for _, item := range left {
		if !now.isNewer(item) {
			return fmt.Sprintf("the key %q", item.Name), nil
		}
	}
	return "", nil
}
