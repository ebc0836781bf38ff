package v1alpha1_test

import (
	"strings"
	"testing"
)

const (
	allowed  = `{allowStoreWide: true}`
	compacts = `[{type: Compact, everySeconds: 5}]`
)

func TestAdmissionAcceptsDisturbances(t *testing.T) {
	both := edit{"spec.disturbances", `[{type: Compact, everySeconds: 5, compact: {keepRevisions: 0}}, {type: Defragment, everySeconds: 9}]`}
	for name, edits := range map[string][]edit{
		"a storm":          {{"spec.disturbances", `[{type: LeaseExpiry, everySeconds: 4, leaseExpiry: {}}]`}, {"spec.load", `{durationSeconds: 10}`}},
		"a great storm":    {{"spec.disturbances", `[{type: LeaseExpiry, everySeconds: 4, leaseExpiry: {leases: 100000, keysPerLease: 10, ttlSeconds: 3600}}]`}, {"spec.load", `{requests: 10}`}},
		"none":             {{"spec.disturbances", `[]`}, {"spec.load", `{durationSeconds: 10}`}},
		"beside requests":  {both, {"spec.guard", allowed}, {"spec.load", `{requests: 10}`}},
		"beside a time":    {both, {"spec.guard", allowed}, {"spec.load", `{durationSeconds: 10}`}},
		"beside a profile": {both, {"spec.guard", allowed}, {"spec.workload", ""}, {"spec.load", ""}, {"spec.objectives", ""}, {"spec.profile", "Small"}},
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edits...) })
	}
}

func TestAdmissionRejectsDisturbances(t *testing.T) {
	for name, tc := range map[string]struct{ disturbances, guard, want string }{
		"without a guard":          {compacts, "", "spec.guard.allowStoreWide"},
		"without permission":       {compacts, `{acceptWrites: true}`, "spec.guard.allowStoreWide"},
		"defragments":              {`[{type: Defragment, everySeconds: 5}]`, `{allowStoreWide: false}`, "spec.guard.allowStoreWide"},
		"after the window":         {`[{type: Compact, everySeconds: 10}]`, allowed, "the measured window is too short for a disturbance"},
		"without a pause":          {`[{type: Compact, everySeconds: 0}]`, allowed, "greater than or equal to 1"},
		"twice":                    {`[{type: Compact, everySeconds: 1}, {type: Compact, everySeconds: 2}]`, allowed, "Duplicate value"},
		"an unknown type":          {`[{type: Reboot, everySeconds: 1}]`, allowed, `"Compact", "Defragment", "LeaseExpiry"`},
		"a storm, no settings":     {`[{type: LeaseExpiry, everySeconds: 1}]`, "", "leaseExpiry: Invalid value: must be set for type LeaseExpiry"},
		"a storm of another type":  {`[{type: Compact, everySeconds: 1, leaseExpiry: {}}]`, allowed, "leaseExpiry: Invalid value: is only for type LeaseExpiry: remove it"},
		"too great a storm":        {`[{type: LeaseExpiry, everySeconds: 1, leaseExpiry: {leases: 100000, keysPerLease: 11}}]`, "", "leases (100000, default 1000) times keysPerLease (11, default 1) must be at most 1000000"},
		"a storm that comes late":  {`[{type: LeaseExpiry, everySeconds: 5, leaseExpiry: {}}]`, "", "(plus ttlSeconds, default 5, for LeaseExpiry) must be less than its length"},
		"settings of another type": {`[{type: Defragment, everySeconds: 1, compact: {}}]`, allowed, "compact: Invalid value: is only for type Compact: remove it"},
		"negative revisions":       {`[{type: Compact, everySeconds: 1, compact: {keepRevisions: -1}}]`, allowed, "greater than or equal to 0"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, edit{"spec.disturbances", tc.disturbances}, edit{"spec.guard", tc.guard}, edit{"spec.load", `{durationSeconds: 10}`})
		})
	}
}

func TestDisturbancesBesideAProfileComeInTime(t *testing.T) {
	for disturbances, wanted := range map[string]string{
		`[{type: Compact, everySeconds: 59}]`:                                    "",
		`[{type: Compact, everySeconds: 60}]`:                                    "or 60 for spec.profile",
		`[{type: LeaseExpiry, everySeconds: 30, leaseExpiry: {ttlSeconds: 29}}]`: "",
		`[{type: LeaseExpiry, everySeconds: 30, leaseExpiry: {ttlSeconds: 30}}]`: "or 60 for spec.profile",
	} {
		wantDisturbed(t, disturbances, wanted, withProfile("Small")...)
	}
}

func TestDisturbancesBesideStagesComeInTime(t *testing.T) {
	stages := edit{"spec.load", `{rate: {stages: [{perSecond: 100, seconds: 20}, {perSecond: 200, seconds: 10}]}}`}
	for disturbances, wanted := range map[string]string{
		`[{type: Compact, everySeconds: 29}]`:                                    "",
		`[{type: Compact, everySeconds: 30}]`:                                    "the seconds of load.rate.stages, or 60",
		`[{type: LeaseExpiry, everySeconds: 20, leaseExpiry: {ttlSeconds: 9}}]`:  "",
		`[{type: LeaseExpiry, everySeconds: 20, leaseExpiry: {ttlSeconds: 10}}]`: "the seconds of load.rate.stages, or 60",
	} {
		wantDisturbed(t, disturbances, wanted, stages)
	}
}

// wantDisturbed wants the API server to accept the disturbances if wanted is empty, and else to refuse them with this text.
func wantDisturbed(t *testing.T, disturbances, wanted string, edits ...edit) {
	t.Helper()
	edits = append(edits, edit{"spec.disturbances", disturbances}, edit{"spec.guard", allowed})
	if wanted == "" {
		wantTaken(t, edits...)
	} else {
		wantRefused(t, wanted, edits...)
	}
}

func TestWatchersOfThePastBesideDisturbances(t *testing.T) {
	reads, load := edit{"spec.workload", `{type: WatchGet, watchGet: {}}`}, edit{"spec.load", `{durationSeconds: 10}`}
	wantRefused(t, "history that the watchers of WatchGet read", reads, load, edit{"spec.disturbances", compacts}, edit{"spec.guard", allowed})
	wantTaken(t, reads, load, edit{"spec.disturbances", `[{type: Defragment, everySeconds: 5}]`}, edit{"spec.guard", allowed})
}

func TestDisturbancesAreImmutable(t *testing.T) {
	o := object(t, edit{"spec.disturbances", compacts}, edit{"spec.guard", allowed})
	if err := create(t, o); err != nil {
		t.Fatal(err)
	}
	apply(t, o, edit{"spec.disturbances", `[{type: Compact, everySeconds: 6}]`})
	if err := api.Update(t.Context(), o); err == nil || !strings.Contains(refusal(err), "spec.disturbances: Invalid value: field is immutable") {
		t.Errorf("wanted a rejection that says that spec.disturbances is immutable, found: %v", err)
	}
}
