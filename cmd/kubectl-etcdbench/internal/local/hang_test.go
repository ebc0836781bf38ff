package local

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// hanging is a target that stops answering for a while.
type hanging struct {
	mutex  sync.Mutex
	answer chan struct{}
}

// hang makes the target silent until answers is called.
func (h *hanging) hang() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.answer = make(chan struct{})
}

func (h *hanging) answers() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.answer != nil {
		close(h.answer)
		h.answer = nil
	}
}

func (h *hanging) handle(ctx context.Context, _ string, _ []byte, forward func() ([]byte, error)) ([]byte, error) {
	h.mutex.Lock()
	silent := h.answer
	h.mutex.Unlock()
	if silent != nil {
		select {
		case <-silent:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return forward()
}

// After an interrupt, a run at a target that hangs says at once what it waits for and for how long, and its percentage
// never falls.
func TestAnInterruptAtATargetThatHangs(t *testing.T) {
	for name, bound := range map[string]func(*v1alpha1.EtcdBenchmark){
		"time": func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Load.Requests, run.Spec.Load.DurationSeconds = nil, new(int32(20))
		},
		"requests": func(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.Requests = new(int64(1_000_000)) },
	} {
		t.Run(name, func(t *testing.T) {
			target, stop, notices := &hanging{}, make(chan struct{}), make(chan string, 10)
			t.Cleanup(target.answers)
			run := mixed(at(etcdtest.StartProxy(t, etcdtest.Start(t, 1, nil).Endpoints[0], target.handle)), bound)
			run.Spec.Load.RequestTimeoutSeconds = 1
			var percents []int32
			hangs := false
			o := options(func(o *Options) {
				o.Stop = stop
				o.Notice = func(text string) { notices <- text }
				o.Show = func(shown *v1alpha1.EtcdBenchmark) {
					if shown.Status.Progress != nil {
						percents = append(percents, benchmark.Percent(shown))
					}
					switch phase := benchmark.Phase(shown); {
					case !hangs && shown.Status.Progress != nil && shown.Status.Progress.Percent > 0 && phase == results.StageMeasuring:
						hangs = true
						target.hang()
						close(stop)
					case hangs && phase == results.StageCleaning:
						target.answers()
					}
				}
			})
			began := time.Now()
			if _, err := Run(t.Context(), run, o); err != nil {
				t.Fatal(err)
			}
			wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonStopped)
			if !slices.IsSorted(percents) || percents[len(percents)-1] == 0 {
				t.Errorf("wanted percentages that never fall, got %v", percents)
			}
			select {
			case text := <-notices:
				if !strings.Contains(text, "waits for responses, for at most 1s, and then deletes its keys, for at most 35s") {
					t.Errorf("got the notice %q", text)
				}
			default:
				t.Error("got no notice")
			}
			if took := time.Since(began); took > limit {
				t.Errorf("the run took %s", took)
			}
		})
	}
}
