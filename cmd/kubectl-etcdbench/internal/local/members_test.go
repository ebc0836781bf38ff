package local

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/reasons"
)

// The members of a run are processes of their own: each has its figures, and the load generator is judged.
func TestMembersAndLoadGeneratorHaveFigures(t *testing.T) {
	dir := t.TempDir()
	run := mixed(func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Load.Requests, run.Spec.Load.DurationSeconds, run.Spec.Load.Rate = nil, new(int32(6)), &spec.Rate{PerSecond: 100, Arrival: spec.ArrivalConstant}
		run.Spec.Target.Service, run.Spec.Target.Ephemeral = nil, &v1alpha1.EphemeralTarget{Replicas: 1, Image: "etcd", Settings: map[string]v1alpha1.MemberSetting{"snapshot-count": "50"}}
	})
	if _, err := Run(t.Context(), run, options(func(o *Options) { o.DataDir = dir })); err != nil {
		t.Fatal(err)
	}
	all := run.Status.Summary.Members
	if len(all) != 1 || all[0].Unknown != "" {
		t.Fatalf("got the members %+v, wanted figures of one", all)
	}
	// About half of the 600 requests are puts. A late first sample can miss some.
	if m := all[0]; m.Apply == nil || m.Apply.Count < 1 || m.Apply.Count > 600 || m.ClientReceivedBytes == nil {
		t.Errorf("got %+v, wanted the applies of about 300 puts", m)
	}
	i := slices.IndexFunc(all[0].Log, func(l v1alpha1.MemberLog) bool { return l.Kind == spec.LogSnapshot })
	if i < 0 || all[0].Log[i].Count < 1 || all[0].Log[i].Lines[0].AtMicroseconds < 0 || !strings.Contains(all[0].Log[i].Lines[0].Text, "saved snapshot") {
		t.Errorf("got the log %+v, wanted a snapshot for each 50 puts", all[0].Log)
	}
	if m := all[0]; m.MemoryBytes == nil || m.CPUMillicores == nil {
		t.Errorf("got memory %v and processors %v, wanted both", m.MemoryBytes, m.CPUMillicores)
	}
	if m := all[0]; runtime.GOOS == "linux" && (m.StorageWrittenBytes == nil || (*m.StorageWrittenBytes == 0) != supervisor.IsInMemory(dir) || m.CPUHighestMillicores == nil || m.PodSentBytes != nil) {
		t.Errorf("got %+v, wanted what the process of the member has written, and nothing about the network that it shares", m)
	}
	if v := run.Status.Summary.Validity; runtime.GOOS == "linux" && (v.Verdict == v1alpha1.ValidityUnknown || v.Shared != v1alpha1.SharedNode) {
		t.Errorf("got %+v, wanted a verdict on the load generator", v)
	}
	wantCondition(t, run, v1alpha1.ConditionCleaned, metav1.ConditionTrue, v1alpha1.ReasonMembersDeleted)
	if run.Status.Target.Members[0].ResidentMemoryBytes == nil {
		t.Error("the memory of the member is not known")
	}
}

// What the members of a run cannot have, and what their data lies on, stands in the result once.
func TestWarningsAboutMembers(t *testing.T) {
	const memory = "/dev/shm"
	if !supervisor.IsInMemory(memory) {
		t.Skip("this machine has no file system in memory at " + memory)
	}
	run := mixed(func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Load.Requests, run.Spec.Target.TLS = new(int64(10)), &v1alpha1.TargetTLS{SecretName: "certs"}
	})
	if _, err := Run(t.Context(), run, options(func(o *Options) { o.Members, o.DataDir = 1, memory })); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, w := range run.Status.Summary.Warnings {
		e, _ := reasons.OfWarning(w)
		kinds[e.Name]++
	}
	if all := strings.Join(run.Status.Summary.Warnings, " "); kinds["DataNotDurable"] != 1 || kinds["OneMachine"] != 1 || !strings.Contains(all, "spec.target.tls") {
		t.Errorf("got the warnings %q", run.Status.Summary.Warnings)
	}
}

// The members that a manifest describes start here with their settings. What only a cluster has is a warning.
func TestDescribedMembers(t *testing.T) {
	t.Setenv("TMPDIR", etcdtest.DataDir(t))
	described := &v1alpha1.EphemeralTarget{Replicas: 1, Image: "example.org/etcd:1", Settings: map[string]v1alpha1.MemberSetting{"quota-backend-bytes": "123456789"}, Storage: &v1alpha1.MemberStorage{}, KeepSeconds: 60}
	fingerprints := map[string]bool{}
	for members, want := range map[int]int32{0: 1, 2: 2, 1: 1} {
		described := described.DeepCopy()
		if members == 1 {
			described.Settings["heartbeat-interval"] = "50"
		}
		run := mixed(func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Target.Service, run.Spec.Target.Ephemeral = nil, described.DeepCopy()
		})
		if _, err := Run(t.Context(), run, options(func(o *Options) { o.Members = members })); err != nil {
			t.Fatal(err)
		}
		wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonCompleted)
		got := run.Spec.Target.Ephemeral
		if got == nil || got.Replicas != want || got.Image != described.Image || run.Spec.Target.Endpoints != nil {
			t.Errorf("the printed run has the target %+v, wanted %d members as they were described", run.Spec.Target, want)
		}
		all := run.Status.Target.Members
		if len(all) != int(want) || all[0].QuotaBytes == nil || *all[0].QuotaBytes != 123456789 {
			t.Errorf("got the members %+v, wanted %d with the quota of the settings", all, want)
		}
		fingerprints[run.Status.Summary.Fingerprint.OwnMembers] = true
		warnings := strings.Join(run.Status.Summary.Warnings, " ")
		for field, want := range map[string]bool{"image": true, "storage": true, "keepSeconds": true, "resources": false, "placement": false} {
			if strings.Contains(warnings, "spec.target.ephemeral."+field+" was not used") != want {
				t.Errorf("%s: got the warnings %q", field, warnings)
			}
		}
	}
	if len(fingerprints) != 2 || fingerprints[""] {
		t.Errorf("got the fingerprints %v, wanted one for each choice of settings", fingerprints)
	}
}

// Members that do not serve have the time that the manifest gives them.
func TestMembersHaveTheirTimeToStart(t *testing.T) {
	waits := filepath.Join(t.TempDir(), "etcd")
	if err := os.WriteFile(waits, []byte("#!/bin/sh\nexec sleep 3600"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := mixed(func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target.Service, run.Spec.Target.Ephemeral = nil, &v1alpha1.EphemeralTarget{Replicas: 1, StartTimeoutSeconds: 1}
	})
	_, err := Run(t.Context(), run, options(func(o *Options) { o.MemberBinary, o.DataDir = waits, t.TempDir() }))
	if err == nil || !strings.Contains(err.Error(), "did not serve on 127.0.0.1:") || !strings.Contains(err.Error(), " within 1s; ") {
		t.Errorf("got %v", err)
	}
}
