package command

import (
	"strings"
	"testing"
)

// A suite does one run at a time: what it needs at a time is that of its greatest run.
func TestPlanSaysWhatASuiteCosts(t *testing.T) {
	const members = `{name: %, target: {ephemeral: {replicas: #, image: "example.org/etcd:1", storage: {volumeClaim: {size: 10Gi}}}}}`
	ephemeral := func(name, replicas string) string {
		return "  - " + strings.NewReplacer("%", name, "#", replicas).Replace(members) + "\n"
	}
	two := strings.Replace(smallSuite, onlyTarget+"\n", ephemeral("one", "1")+ephemeral("three", "3"), 1)
	for name, tc := range map[string]struct{ manifest, atATime, inAll string }{
		"members of its own": {
			two + "  rounds: 3\n", "At a time: 1 client pod, 3 members, 3 volumes with 30Gi together",
			"In all: 24 client pods, 48 members, 48 volumes; ",
		},
		"little": {smallSuite, "At a time: 1 client pod\n", "In all: 4 client pods; less than 1 MB written to each member"},
		// 4 × 10,000 keys at 2,000 per second, and 8 × 3 s for members.
		"preparations": {strings.Replace(strings.Replace(two, "put: {", "put: {overwrite: true, ", 1), "count: 1000", "count: 10000", 1), "", ", and about 44s to prepare them\n"},
		"large values": {strings.Replace(smallSuite, "put: {", "put: {values: {sizeBytes: 100000}, ", 1), "", "; about 1"},
		"closed loops": {strings.ReplaceAll(strings.ReplaceAll(smallSuite, "requests: 60", "durationSeconds: 9"), "requests: 50", "durationSeconds: 9"), "", "; as much as the target takes written"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(tc.manifest, "plan", "-f", "-")
			c.wantStatus(t, exitDone)
			for _, want := range []string{tc.atATime, tc.inAll} {
				if !strings.Contains(c.out.String(), want) {
					t.Errorf("wanted %q, found\n%s", want, c.out)
				}
			}
		})
	}
}
