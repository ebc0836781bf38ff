package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// of returns the options with the members that a run describes.
func (o Options) of(run *v1alpha1.EtcdBenchmark) Options {
	if run.Spec.Target.Ephemeral == nil {
		return o
	}
	o.described = run.Spec.Target.Ephemeral.DeepCopy()
	if o.Members > 0 {
		o.described.Replicas = int32(o.Members)
	}
	o.Members = int(o.described.Replicas)
	return o
}

// start starts the members of a run.
func (o Options) start(ctx context.Context, datastore spec.Datastore) (*supervisor.Cluster, error) {
	store, _ := ephemeral.Of(datastore)
	o.Notice(fmt.Sprintf("Starting %s on this machine.", text.Plural(o.Members, store.Name+" member")))
	config := supervisor.Config{Store: datastore, Members: o.Members, Program: o.MemberBinary, DataDir: o.dataDir(), Settings: map[string]string{}}
	if o.described != nil {
		for name, value := range o.described.Settings {
			config.Settings[name] = string(value)
		}
		config.StartLimit = time.Duration(o.described.StartTimeoutSeconds) * time.Second
	}
	starting, left := context.WithCancelCause(ctx)
	defer left(nil)
	go func() {
		select {
		case <-o.Stop:
			o.Notice("Stopping the members that start. Nothing was measured.")
			left(ErrLeft)
		case <-starting.Done():
		}
	}()
	own, err := supervisor.Start(starting, config)
	if err != nil && ctx.Err() != nil {
		return nil, errors.Join(ErrLeft, err)
	}
	return own, err
}

// showOwn describes the run's own members in its spec and its status as those of a cluster.
func (c *controller) showOwn(now time.Time) {
	o, t := c.options, &c.run.Spec.Target
	t.Service, t.Pods, t.Endpoints = nil, nil, nil
	t.Ephemeral = &v1alpha1.EphemeralTarget{Replicas: int32(o.Members), Image: cmp.Or(o.MemberBinary, "etcd")}
	if o.described != nil {
		t.Ephemeral.Settings = o.described.Settings
	}
	c.run.Status.Ephemeral = &v1alpha1.EphemeralStatus{Job: v1alpha1.JobReference{Name: jobUID, UID: jobUID}, ReadyAt: new(metav1.NewMicroTime(now))}
	for i := range o.Members {
		c.run.Status.Ephemeral.Pods = append(c.run.Status.Ephemeral.Pods, v1alpha1.MemberPod{Name: supervisor.NameOf(i)})
	}
}

// showAsked shows the target that the manifest describes, or, of members that a flag has asked for, the addresses that got
// the load.
func (c *controller) showAsked() {
	t := &c.run.Spec.Target
	switch {
	case c.options.described != nil:
		t.Ephemeral = c.options.described
	case c.own != nil:
		t.Ephemeral, t.Endpoints = nil, c.own.Endpoints
	}
}

// members are the run's own members as the operator would observe them. No pod replaces one that has ended; keepLost knows it.
func (c *controller) members(job lifecycle.Job) lifecycle.Members {
	m := lifecycle.Members{Job: job}
	if own := c.run.Status.Ephemeral; own != nil {
		for _, p := range own.Pods {
			m.Pods = append(m.Pods, lifecycle.Pod{Name: p.Name, State: lifecycle.PodRunning})
		}
	}
	return m
}

// keepLost says in status which of the run's own members have ended before it.
func (c *controller) keepLost() {
	if c.own == nil {
		return
	}
	for _, e := range c.own.Ended() {
		pod := &c.run.Status.Ephemeral.Pods[e.Member]
		if pod.Lost == "" {
			pod.Lost = text.Shorten(e.String(), v1alpha1.MaxMessageLength)
			c.options.Notice(fmt.Sprintf("Member %d (%s) %s.", e.Member, pod.Name, pod.Lost))
		}
	}
}

// addLogs adds to the summary what the run's own members wrote to their logs in the window.
func (c *controller) addLogs() {
	s := c.run.Status.Summary
	if c.own == nil || s.WindowEnd == nil {
		return
	}
	s.Members = benchmark.WithMembers(s.Members, c.run.Status.Target, func(endpoint string) func(*v1alpha1.MemberSummary) {
		i := slices.Index(c.own.Endpoints, endpoint)
		if i < 0 {
			return nil
		}
		return func(m *v1alpha1.MemberSummary) { m.Log = c.own.Log(i, s.WindowEnd.Time) }
	})
}

// unused says which fields of spec.target.ephemeral have no effect without a cluster.
func (o Options) unused() (all []string) {
	e := o.described
	if e == nil {
		return nil
	}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"image", e.Image != "" && o.MemberBinary == ""}, {"resources", e.Resources != nil}, {"storage", e.Storage != nil}, {"placement", e.Placement != nil}, {"keepSeconds", e.KeepSeconds > 0},
	} {
		if field.set {
			all = append(all, "spec.target.ephemeral."+field.name+" was not used: the members were processes on this machine.")
		}
	}
	return all
}

// InMemory returns the folder for the members' data, and reports whether it is known to lie in memory.
func (o Options) InMemory() (dir string, is bool) {
	return o.dataDir(), supervisor.IsInMemory(o.dataDir())
}

func (o Options) dataDir() string { return cmp.Or(o.DataDir, os.TempDir()) }
