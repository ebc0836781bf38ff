//go:build stores

package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// kineUnder is the driver of a run under a prefix.
func kineUnder(t *testing.T, s *kinetest.Server, prefix, uid string) *Kine {
	t.Helper()
	return kineOf(t, onKine(s, func(p *plan.Plan) { p.Prefix, p.RunUID = prefix, uid }), 0)
}

func TestKineNoPrefixLiesWithinAnother(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	client := server.Client(t)
	refusesNested(t, client, map[string]nested{
		"the second within the first": {"bench/", "bench/1/", otherUID},
		"deep within the first":       {"bench/", "bench/1/2/3/", otherUID},
		"the first within the second": {"bench/1/", "bench/", otherUID},
		"the same":                    {"bench/1/", "bench/1/", otherUID},
	}, func(prefix, uid string) load.Driver { return kineUnder(t, server, prefix, uid) })
	if left := keysUnder(t, client, "bench/"); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// Client pod 0 has died before it had ended its claim. Nothing but the marker is the run's.
func TestKineCleansAClaimThatDidNotEnd(t *testing.T) {
	t.Parallel()
	c, p := startKine(t)
	k, beside := kineOf(t, p, 0), kineOf(t, p, 1)
	create(t, c, k.driver.run.Marker(), ownUID+" claiming")
	object := objectsOf(p, 1)[0]
	create(t, c, object, "of others")
	if cleaning, err := beside.Release(withTimeout(t)); err == nil || cleaning != results.CleaningKeysLeft {
		t.Errorf("client pod 1 released with %s, %v", cleaning, err)
	}
	if err := cleanAtOnce(t, k); err != nil {
		t.Error(err)
	}
	if left := keysUnder(t, c.Client, p.Prefix); len(left) != 1 || left[object] == "" {
		t.Errorf("wanted the key of others alone, found %v", left)
	}
}

// A pod that sweeps after another one has ended the deletion, and the next run has claimed, deletes nothing of that run.
func TestKineSweepsNothingOfTheNextRun(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	other := p
	other.RunUID = otherUID
	slow, next := kineOf(t, p, 1), kineOf(t, other, 0)
	if err := next.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	object := objectsOf(p, 1)[0]
	create(t, c, object, "of the next run")
	if page, _, err := slow.claims.Walk().Next(withTimeout(t), 0); !errors.Is(err, ownership.ErrNotAlone) {
		t.Errorf("found %v, %v", page, err)
	}
	if done, err := slow.claims.Abandon(withTimeout(t), 0); !errors.Is(err, ownership.ErrNotAlone) {
		t.Errorf("abandoned: %t, %v", done, err)
	}
	if err := cleanAtOnce(t, slow); err != nil {
		t.Error(err)
	}
	if left := keysUnder(t, c.Client, p.Prefix); len(left) != 3 || left[object] == "" {
		t.Errorf("wanted marker, pod and object of the next run, found %v", left)
	}
}

// The other pods of a run wait until client pod 0 has claimed, and leave if the run's keys are being deleted.
func TestKinePodsFollowClientPod0(t *testing.T) {
	t.Parallel()
	c, p := startKine(t)
	first, second := kineOf(t, p, 0), kineOf(t, p, 1)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := second.Claim(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("client pod 1 did not wait: %v", err)
	}
	if left := keysUnder(t, c.Client, p.Prefix); len(left) > 0 {
		t.Errorf("client pod 1 has written %v", left)
	}
	for _, k := range []*Kine{first, second} {
		if err := k.Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := first.claims.Abandon(t.Context(), 0); !errors.Is(err, ownership.ErrNotAlone) {
		t.Errorf("wanted %v while pods may write, found %v", ownership.ErrNotAlone, err)
	}
	third := kineOf(t, p, 2)
	for name, claim := range map[string]func() error{
		"a claim":                        func() error { return third.Claim(withTimeout(t)) },
		"a claim that began just before": func() error { _, err := third.claims.Join(withTimeout(t)); return err },
	} {
		wantFailure(t, claim(), results.FailurePrefixNotEmpty)
		if _, registered := keysUnder(t, c.Client, p.Prefix)[third.driver.run.PodKey()]; registered {
			t.Errorf("%s that came too late stays registered", name)
		}
	}
	releaseTogether(t, first, second)
	if left := keysUnder(t, c.Client, p.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}
