package command

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// showEndedSuite writes the result of a finished suite and returns its exit status. read returns the document with its
// runs; it is called once if a form shows them.
func (t *tool) showEndedSuite(s *v1alpha1.EtcdBenchmarkSuite, read func() *report.Document, f following) error {
	if err := t.writeSuite(s, read, f); err != nil {
		return err
	}
	invalid, ended := suite.Incomparable(s)
	switch status := statusOfSuite(s); {
	case status == exitDone && f.strict && invalid > 0:
		return &exitError{exitUnknown, fmt.Errorf("--strict: the numbers of %s of %s cannot be compared", text.Grouped(invalid), text.Plural(ended, "run"))}
	case status == exitDone:
		return nil
	case f.destinations.printed() == outputTable:
		return &exitError{status: status}
	default:
		return &exitError{status, whySuite(s, status)}
	}
}

func (t *tool) writeSuite(s *v1alpha1.EtcdBenchmarkSuite, read func() *report.Document, f following) error {
	once := sync.OnceValue(read)
	write := func(f form, out io.Writer) error {
		if f.make != nil {
			return f.writeDocument(out, t.document(once()))
		}
		return f.writeSuite(out, s)
	}
	if err := f.destinations.write(t.Out, write); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// whySuite returns the reason for the exit status, for output that has no table.
func whySuite(s *v1alpha1.EtcdBenchmarkSuite, status int) error {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished)
	switch {
	case suite.EndingOf(s) == verdict.KeysLeft:
		c = verdict.LeftKeys(s.Status.Conditions)
	case status != exitFailed && (c == nil || c.Reason != v1alpha1.ReasonStopped):
		c = meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed)
	}
	if c == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", c.Reason, c.Message)
}

func shownSuite(s *v1alpha1.EtcdBenchmarkSuite) *v1alpha1.EtcdBenchmarkSuite {
	s = s.DeepCopy()
	s.ManagedFields = nil
	s.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(manifest.SuiteKind))
	return s
}

func writeSuiteJSON(out io.Writer, s *v1alpha1.EtcdBenchmarkSuite) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(shownSuite(s))
}

func writeSuiteYAML(out io.Writer, s *v1alpha1.EtcdBenchmarkSuite) error {
	data, err := yaml.Marshal(shownSuite(s))
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}
