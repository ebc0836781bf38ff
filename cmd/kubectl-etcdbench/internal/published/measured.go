package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// measured are the results of this machine, by the names of suites.
type measured struct {
	suites map[string]*report.Document
	// why says why a suite has no result.
	why map[string]string
}

func newMeasured() measured {
	return measured{suites: map[string]*report.Document{}, why: map[string]string{}}
}

func (m measured) add(name string, data []byte) error {
	d, err := report.Read(data)
	if err != nil {
		return err
	}
	if d.Suite == nil {
		return fmt.Errorf("wanted the result of a suite, found that of single runs")
	}
	m.suites[name] = d
	return nil
}

// numbers are the means over the rounds of a cell. Latencies are in microseconds.
type numbers struct {
	rate, mean, p90, p99, max, memory float64
	succeeded, failed                 int64
	// doubt: the load generator was a limit, or the numbers cannot be compared for another reason.
	doubt bool
	// why says why there are no numbers; empty if there are some.
	why string
}

// cannot begins what fills the row of a missing result.
const (
	cannot = "cannot run here, because "
	notRun = "not run"
)

// of returns the numbers of a cell.
func (m measured) of(name, cell string) numbers {
	d := m.suites[name]
	if d == nil {
		if why := m.why[name]; why != "" {
			return numbers{why: cannot + why}
		}
		return numbers{why: notRun}
	}
	all, why := counted(d.Suite, cell)
	if len(all) == 0 {
		return numbers{why: why + m.message(name, cell)}
	}
	var n numbers
	for _, r := range all {
		o := r.Operations[0]
		n.rate += float64(o.ThroughputMilliPerSecond) / 1000
		n.mean, n.p90, n.p99 = n.mean+float64(o.MeanMicroseconds), n.p90+float64(o.P90Microseconds), n.p99+float64(o.P99Microseconds)
		n.max, n.memory = max(n.max, float64(o.MaxMicroseconds)), n.memory+float64(r.ServerMemoryBytes)
		n.succeeded, n.failed = n.succeeded+o.Succeeded, n.failed+o.Failed
		n.doubt = n.doubt || r.Invalid != ""
	}
	for _, sum := range []*float64{&n.rate, &n.mean, &n.p90, &n.p99, &n.memory} {
		*sum /= float64(len(all))
	}
	return n
}

// counted are the results of a cell that count: without invalid ones if there are others.
func counted(s *v1alpha1.EtcdBenchmarkSuite, cell string) (all []v1alpha1.SuiteResult, why string) {
	why = notRun
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		r, ran := suite.Counted(s.Status.Results, cell, round)
		switch {
		case !ran:
		case suite.Failed(r) || len(r.Operations) == 0:
			why = cannot + "the run ended as " + r.Reason
		default:
			all = append(all, r)
		}
	}
	isValid := func(r v1alpha1.SuiteResult) bool { return r.Invalid == "" }
	if slices.ContainsFunc(all, isValid) {
		all = slices.DeleteFunc(all, func(r v1alpha1.SuiteResult) bool { return !isValid(r) })
	}
	return all, why
}

// runOf is the last run of a cell; nil if the archive lacks it.
func (m measured) runOf(name, cell string) *report.Run {
	d := m.suites[name]
	if d == nil {
		return nil
	}
	for _, r := range slices.Backward(d.Suite.Status.Results) {
		i := slices.IndexFunc(d.Runs, func(run report.Run) bool { return run.Object.Name == r.Name })
		if r.Cell == cell && i >= 0 {
			return &d.Runs[i]
		}
	}
	return nil
}

// message is what the run of a cell says about its end.
func (m measured) message(name, cell string) string {
	const most = 160
	if r := m.runOf(name, cell); r != nil {
		if c := meta.FindStatusCondition(r.Object.Status.Conditions, v1alpha1.ConditionFinished); c != nil && c.Message != "" {
			return ": " + text.Shorten(strings.TrimSpace(c.Message), most)
		}
	}
	return ""
}

// sum adds up the throughput of cells. Its latencies are means over all requests, its highest latency that of all.
func (m measured) sum(name string, cells ...string) (n numbers) {
	for _, cell := range cells {
		of := m.of(name, cell)
		if of.why != "" {
			return of
		}
		n.rate, n.mean, n.memory = n.rate+of.rate, n.mean+of.mean*of.rate, max(n.memory, of.memory)
		n.max, n.doubt = max(n.max, of.max), n.doubt || of.doubt
		n.succeeded, n.failed = n.succeeded+of.succeeded, n.failed+of.failed
	}
	n.mean /= max(n.rate, 1)
	return n
}
