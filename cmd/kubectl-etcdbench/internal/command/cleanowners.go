package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
)

// askLimit bounds the calls to the cluster.
const askLimit = 10 * time.Second

// owners are the runs of a cluster, by UID.
type owners struct {
	runs map[string]owner
	// checked says what was asked.
	checked string
	// targets are the addresses of the finished runs in the namespace of the flags whose keys may be left.
	targets   [][]string
	namespace string
	// unlisted is why no runs could be listed, nil if some could.
	unlisted error
}

// owner is one run.
type owner struct {
	name, state string
	finished    bool
}

// owners asks the cluster. Without an answer, no run is known. The targets are those of this store, or of an etcd and a kine if
// none is named.
func (t *tool) owners(ctx context.Context, store spec.Datastore) *owners {
	o := &owners{runs: map[string]owner{}}
	cluster, namespace, _, err := t.cluster()
	if err != nil {
		return o.without(err)
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	o.namespace, o.checked = namespace, "Checked the runs of all namespaces of the cluster "+cluster.Config().Host+"."
	runs, err := cluster.Runs(ctx, "")
	if err != nil {
		o.checked = fmt.Sprintf("Checked only the runs of the namespace %s of the cluster %s: those of all namespaces cannot be listed.", namespace, cluster.Config().Host)
		runs, err = cluster.Runs(ctx, namespace)
	}
	if err != nil {
		return o.without(err)
	}
	for i := range runs {
		run := &runs[i]
		finished := follow.Runs.IsFinished(run)
		o.runs[string(run.UID)] = owner{run.Namespace + "/" + run.Name, follow.Runs.State(run), finished}
		status, _ := conditionOf(run.Status.Conditions, v1alpha1.ConditionCleaned)
		if run.Namespace == namespace && finished && status != metav1.ConditionTrue && run.Status.Target != nil && isOf(run, store) {
			o.targets = append(o.targets, run.Status.Target.Endpoints)
		}
	}
	return o
}

// isOf reports whether the target of a run is this store; without a name, one that datastore.Leftovers recognizes.
func isOf(run *v1alpha1.EtcdBenchmark, store spec.Datastore) bool {
	if store != "" {
		return run.Spec.Target.Datastore == store
	}
	return datastore.IsRecognized(run.Spec.Target.Datastore)
}

// without are the owners if no runs could be listed.
func (o *owners) without(err error) *owners {
	o.checked, o.unlisted = "It was not checked whether an EtcdBenchmark uses a prefix, because no cluster answered with its runs: "+err.Error()+".", err
	return o
}

// endpoints returns the only target of runs whose keys may be left.
func (o *owners) endpoints() ([]string, error) {
	const add = "add --endpoints HOST:PORT,… with its members"
	switch {
	case o.unlisted != nil:
		return nil, fmt.Errorf("wanted the members of a target, found none: %s. It could not be taken from a finished run, because no cluster answered with its runs: %w", add, o.unlisted)
	case len(o.targets) == 0:
		return nil, fmt.Errorf("wanted the members of a target, found none: %s. No finished run of the namespace %q has left keys", add, o.namespace)
	}
	for _, other := range o.targets[1:] {
		if !slices.Equal(other, o.targets[0]) {
			return nil, fmt.Errorf("found runs with keys in several etcds, for example %s and %s: %s", strings.Join(o.targets[0], ","), strings.Join(other, ","), add)
		}
	}
	return o.targets[0], nil
}

// obstacle is why a prefix must not be removed; empty if it may.
func (o *owners) obstacle(l ownership.Leftover) string {
	switch run, known := o.runs[l.Owner]; {
	case l.Unread:
		return "this user may not read it"
	case l.Owner == "":
		return "no run owns it: it has no marker"
	case known && !run.finished:
		return "in use by the run " + run.name + ", which is " + run.state
	}
	return ""
}

// about is what is known about the run that left something.
func (o *owners) about(l ownership.Leftover) string {
	if run, known := o.runs[l.Owner]; known {
		return run.name + ", ended as " + run.state
	}
	return "unknown run " + l.Owner
}
