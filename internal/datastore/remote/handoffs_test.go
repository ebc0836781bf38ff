package remote

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

func TestAHandOffIsFromTheAnswerToTheRelease(t *testing.T) {
	const won = load.Instant(100)
	tests := map[string]struct {
		happens func(*HandOffs)
		want    load.Instant
	}{
		"the previous holder is of another pod": {func(*HandOffs) {}, 0},
		"the answer came before":                {func(h *HandOffs) { h.Begin("a"); h.End("a", 70) }, 70},
		"the answer is on its way":              {func(h *HandOffs) { h.Begin("a") }, won},
		"the answer came a moment after":        {func(h *HandOffs) { h.Begin("a"); h.End("a", 101) }, won},
		"another was in front":                  {func(h *HandOffs) { h.Begin("b"); h.End("b", 70) }, 0},
		"the one in front has won since":        {func(h *HandOffs) { h.Begin("a"); h.End("a", 70); h.Forget("a") }, 0},
		"it gave back once more, and latest":    {func(h *HandOffs) { h.End("a", 70); h.Begin("a"); h.End("a", 90) }, 90},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var h HandOffs
			tc.happens(&h)
			if got := h.Freed("a", won); got != tc.want {
				t.Errorf("got %d, wanted %d", got, tc.want)
			}
		})
	}
}
