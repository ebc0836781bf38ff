package v1alpha1_test

import "testing"

func TestAdmissionAcceptsContests(t *testing.T) {
	for name, tc := range map[string]struct{ workload, load string }{
		"a lock for all":               {`{type: Lock, lock: {}}`, `{requests: 1}`},
		"a lock for each":              {`{type: Lock, lock: {names: 20, holdMilliseconds: 9999}}`, `{requests: 1, clients: 20}`},
		"a lock for each, for long":    {`{type: Lock, lock: {names: 10, holdMilliseconds: 60000}}`, `{requests: 1, clients: 10}`},
		"a long queue":                 {`{type: Lock, lock: {holdMilliseconds: 100}}`, `{requests: 1, clients: 100}`},
		"a queue that the rate shapes": {`{type: Lock, lock: {holdMilliseconds: 60000}}`, `{requests: 1, clients: 100, rate: {perSecond: 1}}`},
		"an election for all":          {`{type: Election, election: {}}`, `{durationSeconds: 1}`},
		"elections":                    {`{type: Election, election: {names: 5, leadMilliseconds: 100}}`, `{requests: 1, clients: 20}`},
		"an election with one client":  {`{type: Election, election: {leadMilliseconds: 60000}}`, `{requests: 1, clients: 1}`},
		"as long as the time-out lets": {`{type: Election, election: {leadMilliseconds: 60000}}`, `{requests: 1, clients: 2, requestTimeoutSeconds: 61}`},
	} {
		t.Run(name, func(t *testing.T) {
			wantTaken(t, edit{"spec.workload", tc.workload}, edit{"spec.load", tc.load})
		})
	}
	t.Run("objectives", func(t *testing.T) {
		wantTaken(t, edit{"spec.workload", `{type: Lock, lock: {}}`}, edit{"spec.objectives", `[
{name: a, type: Latency, latency: {operation: LockAcquire, statistic: P99, maxMicroseconds: 1}},
{name: b, type: Latency, latency: {operation: LockRelease, statistic: P99, maxMicroseconds: 1}},
{name: c, type: Latency, latency: {operation: LockHandOff, statistic: P99, maxMicroseconds: 1}}]`})
	})
}

func TestAdmissionRejectsContests(t *testing.T) {
	for name, tc := range map[string]struct{ workload, load, want string }{
		"no lock":                 {`{type: Lock}`, `{requests: 1}`, "needs the field lock and no other"},
		"no election":             {`{type: Election}`, `{requests: 1}`, "needs the field election and no other"},
		"a lock beside put":       {`{type: Put, put: {}, lock: {}}`, `{requests: 1}`, "needs the field put and no other"},
		"an election beside put":  {`{type: Put, put: {}, election: {}}`, `{requests: 1}`, "needs the field put and no other"},
		"no name":                 {`{type: Lock, lock: {names: 0}}`, `{requests: 1}`, "greater than or equal to 1"},
		"too long a hold":         {`{type: Lock, lock: {holdMilliseconds: 60001}}`, `{requests: 1}`, "less than or equal to 60000"},
		"too long a lead":         {`{type: Election, election: {leadMilliseconds: 60001}}`, `{requests: 1}`, "less than or equal to 60000"},
		"locks without clients":   {`{type: Lock, lock: {names: 21}}`, `{requests: 1, clients: 20}`, "spec.workload: Invalid value: names must be at most load.clients (20, default 1)"},
		"elections without any":   {`{type: Election, election: {names: 21}}`, `{requests: 1, clients: 20}`, "spec.workload: Invalid value: names must be at most load.clients (20, default 1)"},
		"a queue beyond time-out": {`{type: Lock, lock: {holdMilliseconds: 100}}`, `{requests: 1, clients: 101}`, "spec.load.clients: Invalid value: found 101, too many for the names"},
		"candidates beyond it":    {`{type: Election, election: {names: 2, leadMilliseconds: 200}}`, `{requests: 1, clients: 101}`, "spec.load.clients: Invalid value: found 101, too many for the names"},
		"one too many for it":     {`{type: Lock, lock: {names: 10, holdMilliseconds: 10000}}`, `{requests: 1, clients: 11}`, "spec.load.clients: Invalid value: found 11, too many for the names"},
		"locks over Fast":         {`{type: Lock, lock: {}}`, `{requests: 1, transport: Fast}`, "spec.load.transport: Invalid value: must be Client"},
		"elections over Fast":     {`{type: Election, election: {}}`, `{requests: 1, transport: Fast}`, "spec.load.transport: Invalid value: must be Client"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, edit{"spec.workload", tc.workload}, edit{"spec.load", tc.load})
		})
	}
}
