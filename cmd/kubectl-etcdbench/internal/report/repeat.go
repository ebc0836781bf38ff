package report

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// repetition is how to repeat what a page shows.
type repetition struct {
	// File is the name under which the command reads the manifest.
	File string
	// Command is empty if names are replaced: then no command works.
	Command string
	// Needs say what the command needs beside the manifest.
	Needs []string
}

// The files that commands read.
const (
	benchmarkFile = "benchmark.yaml"
	suiteFile     = "suite.yaml"
	scheduleFile  = "schedule.yaml"
)

// isLocal reports whether no API server has stored an object: it was run on a machine without a cluster.
func isLocal(m metav1.ObjectMeta) bool { return m.ResourceVersion == "" }

// repeat is how to repeat the manifest of an object. run is a run of it that has ended, or nil. endpoints replace the
// addresses of the manifest on a machine without a cluster, if there are any.
func (d *Document) repeat(file string, m metav1.ObjectMeta, run *v1alpha1.EtcdBenchmark, endpoints []string) repetition {
	r := repetition{File: file}
	switch {
	case d.Redacted:
	case d.Local || isLocal(m):
		r.Command = "kubectl etcdbench run --local -f " + file
		if len(endpoints) > 0 {
			r.Command += " --endpoints " + text.Word(strings.Join(endpoints, ","))
		}
		if run != nil {
			r.onThisMachine(run)
		}
	default:
		r.Command = "kubectl etcdbench run -f " + file + " --generate-name"
	}
	return r
}

// onThisMachine adds the flags for the members of a run without a cluster, or for what takes the place of Secrets.
func (r *repetition) onThisMachine(run *v1alpha1.EtcdBenchmark) {
	if hasOwnMembers(run) {
		r.Command += fmt.Sprintf(" --members %d", len(run.Status.Ephemeral.Pods))
		return
	}
	if run.Spec.Target.TLS != nil {
		r.Command += " --tls-dir certs"
		r.Needs = append(r.Needs, "The folder certs has ca.crt, and tls.crt and tls.key if etcd asks for a client certificate.")
	}
	if run.Spec.Target.Auth != nil {
		r.Command += " --auth-dir user"
		row, _ := run.Spec.Target.Datastore.Store()
		r.Needs = append(r.Needs, "The folder user has the files "+strings.Join(row.Auth, " and ")+".")
	}
}

// hasOwnMembers reports whether a flag made the command start the members of a run.
func hasOwnMembers(run *v1alpha1.EtcdBenchmark) bool {
	return run.Status.Ephemeral != nil && run.Spec.Target.Ephemeral == nil
}

// repeatSuite is how to repeat a suite. Flags may have replaced the addresses of its targets.
func (d *Document) repeatSuite() repetition {
	if len(d.Runs) == 0 {
		return d.repeat(suiteFile, d.Suite.ObjectMeta, nil, nil)
	}
	run := d.Runs[0].Object
	endpoints := run.Spec.Target.Endpoints
	isOwn := func(t v1alpha1.SuiteTarget) bool { return slices.Equal(t.Target.Endpoints, endpoints) }
	if hasOwnMembers(run) || slices.ContainsFunc(d.Suite.Spec.Targets, isOwn) {
		endpoints = nil
	}
	return d.repeat(suiteFile, d.Suite.ObjectMeta, run, endpoints)
}

// repeatSchedule is how to apply a schedule again.
func (d *Document) repeatSchedule() repetition {
	r := repetition{File: scheduleFile}
	if !d.Redacted {
		r.Command = "kubectl apply -f " + scheduleFile
	}
	return r
}
