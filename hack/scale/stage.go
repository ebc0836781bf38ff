package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

// startLimit bounds the wait for what the operator does within seconds if it is not overloaded.
const startLimit = 5 * time.Minute

// stage is where the scenes play.
type stage struct {
	options
	plane   *controlPlane
	out     io.Writer
	log     string
	kubelet *kubelet
	diary   *diary
	manager *process
	cancel  context.CancelFunc
	// finished is the status of a run that has finished, with its results.
	finished v1alpha1.EtcdBenchmarkStatus
	probe    string
	outcomes []outcome
}

// prepare starts the kubelet and the manager, plays one run, and makes the objects beside which the scenes play.
func (s *stage) prepare(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	if err := s.watch(inner); err != nil {
		return err
	}
	if err := s.startManager(); err != nil {
		return err
	}
	if err := s.playFirst(ctx); err != nil {
		return err
	}
	return s.makeCrowd(ctx)
}

// makeCrowd makes the objects without the manager, which would start a run that has no status yet.
func (s *stage) makeCrowd(ctx context.Context) error {
	s.say("making %d finished and %d waiting runs", s.Finished, s.Waiting)
	s.manager.end()
	for _, namespace := range []string{"crowd", "delete"} {
		if err := s.makeNamespace(ctx, namespace); err != nil {
			return err
		}
	}
	if err := s.makeFinished(ctx, "crowd", s.Finished, "none"); err != nil {
		return err
	}
	if err := s.makeFinished(ctx, "delete", s.Delete, "delete"); err != nil {
		return err
	}
	if err := s.startManager(); err != nil {
		return err
	}
	if err := s.makeWaiting(ctx, "crowd", s.Waiting, address(2, 0)); err != nil {
		return err
	}
	return s.awaitQuiet(ctx)
}

// watch follows pods and the runs of scenes.
func (s *stage) watch(ctx context.Context) error {
	config := rest.CopyConfig(s.plane.env.Config)
	config.QPS = -1
	scenes, err := labels.Parse(sceneLabel + "!=none," + sceneLabel)
	if err != nil {
		return err
	}
	from, err := cache.New(config, cache.Options{Scheme: s.plane.api.Scheme(), ByObject: map[client.Object]cache.ByObject{
		&v1alpha1.EtcdBenchmark{}: {Label: scenes}, &corev1.Pod{}: {},
	}})
	if err != nil {
		return err
	}
	if s.kubelet, err = startKubelet(ctx, s.plane.api, from); err != nil {
		return err
	}
	if s.diary, err = startDiary(ctx, from); err != nil {
		return err
	}
	go func() { _ = from.Start(ctx) }()
	if !from.WaitForCacheSync(ctx) {
		return errors.New("the API server did not send its objects")
	}
	return nil
}

func (s *stage) startManager() (err error) {
	addresses, err := freeport.Addresses(1)
	if err != nil {
		return err
	}
	s.probe = addresses[0]
	env, err := managerEnvironment(s.root)
	if err != nil {
		return err
	}
	s.manager, err = startProcess(s.log, env, s.options.manager, "--kubeconfig="+s.plane.kubeconfig, "--client-image=client",
		"--metrics-bind-address=0", "--health-probe-bind-address="+s.probe)
	return err
}

// managerEnvironment returns the variables that an installed manager has, as NAME=VALUE.
func managerEnvironment(root string) (env []string, err error) {
	file := filepath.Join(root, "config", "manager", "deployment.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var deployment appsv1.Deployment
	if err := yaml.Unmarshal(text, &deployment); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range deployment.Spec.Template.Spec.Containers {
		for _, v := range c.Env {
			env = append(env, v.Name+"="+v.Value)
		}
	}
	if len(env) == 0 {
		return nil, fmt.Errorf("%s: wanted a container with environment variables, found none", file)
	}
	return env, nil
}

// playFirst plays one run, whose status the finished runs have.
func (s *stage) playFirst(ctx context.Context) error {
	if err := s.makeNamespace(ctx, "first"); err != nil {
		return err
	}
	s.kubelet.loadFor("first", time.Second)
	if err := s.plane.api.Create(ctx, newRun("first", "first", address(3, 0), 2, time.Second)); err != nil {
		return err
	}
	if err := s.awaitFinished(ctx, "first", 1, startLimit); err != nil {
		return err
	}
	run := &v1alpha1.EtcdBenchmark{}
	err := s.plane.api.Get(ctx, client.ObjectKey{Namespace: "first", Name: "first"}, run)
	run.Status.DeepCopyInto(&s.finished)
	if err == nil && !whole(run, 2) {
		err = fmt.Errorf("wanted a first run with all requests, found %+v", run.Status)
	}
	return err
}

// whole reports whether a run has completed with the requests of all its pods.
func whole(run *v1alpha1.EtcdBenchmark, pods int) bool {
	s := run.Status.Summary
	done := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	return s != nil && !s.Partial && s.MeasuredRequests == int64(pods)*podRequests && done != nil && done.Reason == v1alpha1.ReasonCompleted
}

func (s *stage) awaitFinished(ctx context.Context, namespace string, n int, limit time.Duration) error {
	return s.await(ctx, fmt.Sprintf("%d finished runs in namespace %s", n, namespace), limit, func() bool {
		return s.diary.count(namespace, func(r sighting) bool { return !r.finished.IsZero() }) >= n
	})
}

func (s *stage) awaitStage(ctx context.Context, namespace, name, stage string) error {
	return s.await(ctx, "stage "+stage+" of "+namespace+"/"+name, startLimit, func() bool {
		return s.diary.count(namespace, func(r sighting) bool { return r.run.Name == name && stageOf(r.run) == stage }) > 0
	})
}

func stageOf(run *v1alpha1.EtcdBenchmark) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		return c.Reason
	}
	return ""
}

// await fails at once if the manager or the kubelet has failed.
func (s *stage) await(ctx context.Context, what string, limit time.Duration, holds func() bool) error {
	return until(ctx, what, limit, func() (bool, error) {
		if s.manager.ended() {
			return false, fmt.Errorf("the manager has ended: %s", s.lastLog())
		}
		return holds(), s.kubelet.firstProblem()
	})
}

func (s *stage) lastLog() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-2000):]))
}

// quietFor is how long a manager with nothing to do sends no write and uses less than quietCPU of a processor.
const (
	quietFor = 3 * time.Second
	quietCPU = 0.1
)

// awaitQuiet waits until the manager has nothing to do.
func (s *stage) awaitQuiet(ctx context.Context) error {
	var since time.Time
	var cpu time.Duration
	var audit int64
	return s.await(ctx, "a manager with nothing to do", 2*startLimit, func() bool {
		span := time.Since(since)
		if span < quietFor {
			return false
		}
		cpuNow, err1 := s.manager.cpu()
		auditNow, err2 := auditSize(s.plane.audit)
		quiet := errors.Join(err1, err2) == nil && auditNow == audit && (cpuNow-cpu).Seconds() < quietCPU*span.Seconds()
		since, cpu, audit = time.Now(), cpuNow, auditNow
		return quiet
	})
}

func (s *stage) say(format string, values ...any) {
	fmt.Fprintf(s.out, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, values...)...)
}

func (s *stage) end() {
	if s.cancel != nil {
		s.cancel()
	}
	s.manager.end()
}
