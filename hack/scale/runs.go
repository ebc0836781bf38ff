package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// sceneLabel marks the runs that a scene follows.
const sceneLabel = "scale.etcdbench.dev/scene"

// newRun is a run of a namespace that follows it.
func newRun(namespace, name, address string, pods int, window time.Duration) *v1alpha1.EtcdBenchmark {
	seconds := int32(window / time.Second)
	return &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{sceneLabel: namespace}},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target:   v1alpha1.Target{Endpoints: []string{"http://" + address}},
			Workload: spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{ReadPercent: 50}},
			Load: spec.Load{
				Pods: int32(pods), Connections: int32(pods), Clients: int32(10 * pods), DurationSeconds: &seconds,
				Rate: &spec.Rate{PerSecond: int64(pods) * podRequests / int64(seconds)},
			},
			SchedulingTimeoutSeconds: 3600, TimeoutSeconds: 3600,
		},
	}
}

// never lets no node take the pods of a run.
func never(run *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	run.Spec.Pod = &v1alpha1.PodSettings{NodeSelector: map[string]string{neverLabel: "true"}}
	return run
}

// address is an address of the target of run n; scenes do not share addresses.
func address(scene, n int) string { return fmt.Sprintf("10.%d.%d.%d:2379", scene, n/250, 1+n%250) }

// inParallel calls do for 0 to n-1, some at a time, and returns the first error.
func inParallel(n int, do func(int) error) (first error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	room := make(chan struct{}, parallelWrites)
	for i := range n {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if err := do(i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
	all.Wait()
	return first
}

func (s *stage) makeNamespace(ctx context.Context, name string) error {
	err := s.plane.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// makeFinished creates runs that have the status of a run that has finished. The operator has not seen them before.
func (s *stage) makeFinished(ctx context.Context, namespace string, n int, label string) error {
	return inParallel(n, func(i int) error {
		run := newRun(namespace, fmt.Sprintf("finished-%04d", i), address(1, i), 1, time.Second)
		run.Labels = map[string]string{sceneLabel: label}
		if err := s.plane.api.Create(ctx, run); err != nil {
			return err
		}
		s.finished.DeepCopyInto(&run.Status)
		return s.plane.api.Status().Update(ctx, run)
	})
}

// makeWaiting creates a run whose pods never come, and runs that wait for it.
func (s *stage) makeWaiting(ctx context.Context, namespace string, n int, at string) error {
	if err := s.plane.api.Create(ctx, never(newRun(namespace, "holder", at, 1, time.Second))); err != nil {
		return err
	}
	if err := s.awaitStage(ctx, namespace, "holder", v1alpha1.StagePreparing); err != nil {
		return err
	}
	err := inParallel(n, func(i int) error {
		return s.plane.api.Create(ctx, newRun(namespace, fmt.Sprintf("waiting-%04d", i), at, 1, time.Second))
	})
	if err != nil {
		return err
	}
	return s.await(ctx, "all runs waiting", 2*startLimit, func() bool {
		return s.diary.count(namespace, func(r sighting) bool { return stageOf(r.run) == v1alpha1.StageQueued }) == n
	})
}

// sighting is what this program has seen of a run.
type sighting struct {
	run *v1alpha1.EtcdBenchmark
	// created is when it first saw the run, and finished is when it first saw its end.
	created, finished time.Time
}

// diary has the sightings of the runs of all scenes.
type diary struct {
	mu   sync.Mutex
	runs map[client.ObjectKey]sighting
}

func startDiary(ctx context.Context, from cache.Cache) (*diary, error) {
	d := &diary{runs: map[client.ObjectKey]sighting{}}
	informer, err := from.GetInformer(ctx, &v1alpha1.EtcdBenchmark{})
	if err != nil {
		return nil, err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { d.keep(o) },
		UpdateFunc: func(_, o any) { d.keep(o) },
		DeleteFunc: func(o any) { d.drop(o) },
	})
	return d, err
}

func (d *diary) keep(o any) {
	run, ok := o.(*v1alpha1.EtcdBenchmark)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := client.ObjectKeyFromObject(run)
	r := d.runs[key]
	r.run = run
	if r.created.IsZero() {
		r.created = time.Now()
	}
	if r.finished.IsZero() && run.Status.CompletionTime != nil {
		r.finished = time.Now()
	}
	d.runs[key] = r
}

func (d *diary) drop(o any) {
	if run, ok := o.(*v1alpha1.EtcdBenchmark); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.runs, client.ObjectKeyFromObject(run))
	}
}

// of returns the sightings of the runs of a namespace.
func (d *diary) of(namespace string) (all []sighting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, r := range d.runs {
		if key.Namespace == namespace {
			all = append(all, r)
		}
	}
	return all
}

// count counts the runs of a namespace for which this holds.
func (d *diary) count(namespace string, holds func(sighting) bool) (n int) {
	for _, r := range d.of(namespace) {
		if holds(r) {
			n++
		}
	}
	return n
}
