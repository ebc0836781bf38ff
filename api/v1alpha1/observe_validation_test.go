package v1alpha1_test

import "testing"

func observeWith(more ...edit) []edit {
	return append([]edit{{"spec.workload", `{type: Observe}`}, {"spec.load", `{durationSeconds: 30}`}}, more...)
}

func TestAdmissionAcceptsObserve(t *testing.T) {
	wantTaken(t, observeWith()...)
	wantTaken(t, observeWith(edit{"spec.objectives", `[{name: a, type: Latency, latency: {operation: Status, statistic: P50, maxMicroseconds: 1}}]`})...)
}

func TestAdmissionRejectsObserve(t *testing.T) {
	for name, tc := range map[string]struct {
		want  string
		edits []edit
	}{
		"another type's field": {"spec.workload: Invalid value: type Observe needs no field", []edit{{"spec.workload", `{type: Observe, put: {}}`}, {"spec.load", `{durationSeconds: 30}`}}},
		"requests":             {"spec.load: Invalid value: for workload.type Observe, set only durationSeconds", []edit{{"spec.workload", `{type: Observe}`}, {"spec.load", `{requests: 3}`}}},
		"clients":              {"set only durationSeconds", observeWith(edit{"spec.load.clients", `2`})},
		"a rate":               {"set only durationSeconds", observeWith(edit{"spec.load.rate", `{perSecond: 5}`})},
		"a warm-up":            {"set only durationSeconds", observeWith(edit{"spec.load.warmupSeconds", `5`})},
		"one member":           {"spec.target: Invalid value: must have neither members, memberIndex nor ephemeral", observeWith(edit{"spec.target.memberIndex", `0`})},
		"the leader":           {"must have neither members, memberIndex nor ephemeral", observeWith(edit{"spec.target.members", `Leader`})},
		"members of the run":   {"must have neither members, memberIndex nor ephemeral", observeWith(edit{"spec.target", `{ephemeral: {replicas: 1, image: etcd}}`})},
		"rules of a guard":     {"spec.guard.stopOn: Invalid value: must be absent for workload.type Observe", observeWith(edit{"spec.guard", `{stopOn: {leaderChange: true}}`})},
		"a time-out too short": {"spec.timeoutSeconds: Invalid value: must be at least load.durationSeconds (30) plus 60", observeWith(edit{"spec.timeoutSeconds", `89`})},
		"disturbances":         {"spec.disturbances: Invalid value: must be absent for workload.type Observe", observeWith(edit{"spec.disturbances", `[{type: LeaseExpiry, everySeconds: 1, leaseExpiry: {}}]`})},
		"ZooKeeper":            {"found type Observe", observeWith(edit{"spec.target", zooKeeper})},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, tc.edits...) })
	}
}
