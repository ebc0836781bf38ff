package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The members behind a load balancer get its address. What was measured there without knowing the member is left out.
func TestMembersAreWhereTheyAnswered(t *testing.T) {
	figures := func() *MemberWindow {
		return &MemberWindow{Figures: map[Figure]float64{FigurePings: 3, FigurePingMedianSeconds: 1, FigureMemoryBytes: 7}}
	}
	unreached := &MemberWindow{Unknown: "no address of the run leads to this member"}
	first := &Snapshot{Target: &Target{
		Members: []Member{
			{ID: "1", Endpoint: "lb:1", Window: figures()}, {ID: "2", Window: unreached}, {ID: "3", Window: unreached},
			{ID: "4", Endpoint: "own:1", Window: figures()},
		},
		AnsweredBy: map[string][]string{"own:1": {"4"}},
	}}
	second := &Snapshot{Index: 1, Target: &Target{AnsweredBy: map[string][]string{"lb:1": {"2"}}}}
	got := TargetOf([]*Snapshot{nil, second, first})
	want := []Member{
		{ID: "1", Endpoint: "lb:1", Window: &MemberWindow{Figures: map[Figure]float64{FigureMemoryBytes: 7}}},
		{ID: "2", Endpoint: "lb:1", Window: &MemberWindow{Unknown: UnknownShared + ", so its metrics could not be read"}},
		{ID: "3", Window: unreached},
		{ID: "4", Endpoint: "own:1", Window: figures()},
	}
	if diff := cmp.Diff(want, got.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	for id, loaded := range map[string]bool{"1": false, "2": true, "3": false, "4": true} {
		if is, known := got.IsLoaded(id); is != loaded || !known {
			t.Errorf("member %s: got load %v, known %v; wanted %v", id, is, known, loaded)
		}
	}
	if _, known := (&Target{}).IsLoaded("1"); known {
		t.Error("without answers, it is known which members got load")
	}
	if first.Target.Members[1].Endpoint != "" {
		t.Error("the snapshot has changed")
	}
}
