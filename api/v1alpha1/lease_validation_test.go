package v1alpha1_test

import "testing"

func TestAdmissionAcceptsLeases(t *testing.T) {
	for name, edits := range map[string][]edit{
		"grants":                {{"spec.workload", `{type: Lease, lease: {operation: Grant}}`}},
		"a million grants":      {{"spec.workload", `{type: Lease, lease: {operation: Grant, ttlSeconds: 1}}`}, {"spec.load", `{requests: 1000000}`}},
		"grants after others":   {{"spec.workload", `{type: Lease, lease: {operation: Grant}}`}, {"spec.load", `{requests: 900000, warmupSeconds: 10, rate: {perSecond: 10000}}`}},
		"revocations":           {{"spec.workload", `{type: Lease, lease: {operation: Revoke}}`}},
		"grants over Fast":      {{"spec.workload", `{type: Lease, lease: {operation: Grant}}`}, {"spec.load.transport", `Fast`}},
		"revocations over Fast": {{"spec.workload", `{type: Lease, lease: {operation: Revoke}}`}, {"spec.load.transport", `Fast`}},
		"renewals":              {{"spec.workload", `{type: Lease, lease: {operation: KeepAlive, keepAlive: {}}}`}},
		"renewals for a time":   {{"spec.workload", `{type: Lease, lease: {operation: KeepAlive, keepAlive: {mode: Once, leases: 1000000}}}`}, {"spec.load", `{durationSeconds: 10, warmupSeconds: 1}`}},
		"a limit of a renewal":  {{"spec.workload", `{type: Lease, lease: {operation: KeepAlive, keepAlive: {}}}`}, {"spec.objectives", `[{name: a, type: Latency, latency: {operation: LeaseKeepAlive, statistic: P99, maxMicroseconds: 1}}]`}},
		"many renewals":         {{"spec.workload", `{type: Lease, lease: {operation: KeepAlive, keepAlive: {}}}`}, {"spec.load", `{requests: 1000001}`}},
		"a limit of a grant":    {{"spec.workload", `{type: Lease, lease: {operation: Grant}}`}, {"spec.objectives", `[{name: a, type: Latency, latency: {operation: LeaseGrant, statistic: P99, maxMicroseconds: 1}}]`}},
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edits...) })
	}
}

func TestAdmissionRejectsLeases(t *testing.T) {
	const grant, revoke = `{type: Lease, lease: {operation: Grant}}`, `{type: Lease, lease: {operation: Revoke}}`
	for name, tc := range map[string]struct{ workload, load, want string }{
		"no field":                     {`{type: Lease}`, `{requests: 1}`, "needs the field lease and no other"},
		"a second field":               {`{type: Put, put: {}, lease: {operation: Grant}}`, `{requests: 1}`, "needs the field put and no other"},
		"no operation":                 {`{type: Lease, lease: {}}`, `{requests: 1}`, "Required value"},
		"an unknown operation":         {`{type: Lease, lease: {operation: List}}`, `{requests: 1}`, `supported values: "Grant", "KeepAlive", "Revoke"`},
		"renewals without settings":    {`{type: Lease, lease: {operation: KeepAlive}}`, `{requests: 1}`, "lease.keepAlive: Invalid value: must be set for operation KeepAlive"},
		"settings of a grant":          {`{type: Lease, lease: {operation: Grant, keepAlive: {}}}`, `{requests: 1}`, "lease.keepAlive: Invalid value: is only for operation KeepAlive: remove it"},
		"an unknown mode":              {`{type: Lease, lease: {operation: KeepAlive, keepAlive: {mode: Often}}}`, `{requests: 1}`, `supported values: "Once", "Stream"`},
		"too many leases":              {`{type: Lease, lease: {operation: KeepAlive, keepAlive: {leases: 1000001}}}`, `{requests: 1}`, "less than or equal to 1000000"},
		"no leases":                    {`{type: Lease, lease: {operation: KeepAlive, keepAlive: {leases: 0}}}`, `{requests: 1}`, "greater than or equal to 1"},
		"no time to live":              {`{type: Lease, lease: {operation: Grant, ttlSeconds: 0}}`, `{requests: 1}`, "greater than or equal to 1"},
		"grants for a time":            {grant, `{durationSeconds: 10}`, "must be set for lease.operation Grant, to at most 1000000, instead of load.durationSeconds"},
		"revocations for a time":       {revoke, `{durationSeconds: 10}`, "must be set for lease.operation Revoke, to at most 1000000, instead of load.durationSeconds"},
		"too many grants":              {grant, `{requests: 1000001}`, "load.requests: Invalid value: must be set for lease.operation Grant, to at most 1000000"},
		"a warm-up before revocations": {revoke, `{requests: 1, warmupSeconds: 1}`, "would use up the leases"},
		"grants before any rate":       {grant, `{requests: 1, warmupSeconds: 1}`, "load.warmupSeconds to 0"},
		"too many with the warm-up":    {grant, `{requests: 900001, warmupSeconds: 10, rate: {perSecond: 10000}}`, "may grant at most 1000000 leases"},
		"renewals over Fast":           {`{type: Lease, lease: {operation: KeepAlive, keepAlive: {}}}`, `{requests: 1, transport: Fast}`, "spec.load.transport: Invalid value: must be Client"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, edit{"spec.workload", tc.workload}, edit{"spec.load", tc.load})
		})
	}
}
