package controllers

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// unwritableClient fails to write reports, as with a broken webhook, if the error for these is set, and each status for which
// the function returns an error.
type unwritableClient struct {
	client.Client
	report  error
	status  func(v1alpha1.EtcdBenchmarkStatus) error
	refused *atomic.Int32
}

func (c unwritableClient) Apply(ctx context.Context, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	if m, ok := o.(*corev1ac.ConfigMapApplyConfiguration); ok && c.report != nil && m.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentReport {
		c.refused.Add(1)
		return c.report
	}
	return c.Client.Apply(ctx, o, options...)
}

func (c unwritableClient) Status() client.SubResourceWriter {
	return unwritableStatus{c.Client.Status(), c}
}

type unwritableStatus struct {
	client.SubResourceWriter
	client unwritableClient
}

func (w unwritableStatus) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
	if run, ok := o.(*v1alpha1.EtcdBenchmark); ok && w.client.status != nil {
		if err := w.client.status(run.Status); err != nil {
			w.client.refused.Add(1)
			return err
		}
	}
	return w.SubResourceWriter.Patch(ctx, o, p, options...)
}

// playUnwritable plays until the pods run, with an operator that fails some writes.
func (s *harness) playUnwritable(report error, status func(v1alpha1.EtcdBenchmarkStatus) error) (refused *atomic.Int32) {
	s.t.Helper()
	s.playPreparing()
	refused = &atomic.Int32{}
	s.restart(func(r *EtcdBenchmarkReconciler) {
		r.Client = unwritableClient{r.Client, report, status, refused}
	})
	s.playReady()
	s.playRunning()
	return refused
}

var errWebhook = apierrors.NewInternalError(errors.New("failed calling webhook: connection refused"))

// TestAReportThatCanNotBeWritten delays the end of a run only for a limited time, and not beyond its timeout.
func TestAReportThatCanNotBeWritten(t *testing.T) {
	t.Run("for a while", func(t *testing.T) {
		s := newHarness(t)
		refused := s.playUnwritable(errWebhook, nil)
		s.playDone()
		s.await("a report that is refused twice", func() bool { return refused.Load() > 1 })
		if run := (&v1alpha1.EtcdBenchmark{Status: s.status()}); run.HasFinished() {
			t.Error("the run gave up at once; a short fault must not cost the report")
		}
		s.later(reportMaxWait)
		s.awaitFinished(v1alpha1.ReasonCompleted)
		s.checkWithoutReport()
	})
	t.Run("beyond the time-out", func(t *testing.T) {
		s := newHarness(t)
		s.playUnwritable(errWebhook, nil)
		s.later(time.Duration(s.run.Spec.TimeoutSeconds)*time.Second + time.Minute)
		s.await("the pods to be asked to stop", func() bool { return s.allHave(plan.AnnotationStop) })
		for _, a := range s.pods {
			a.reports(results.StageDone, measured, withKeysDeleted, func(s *results.Snapshot) { s.Stopped = true })
		}
		s.awaitFinished(v1alpha1.ReasonTimedOut)
		s.checkWithoutReport()
	})
	t.Run("and then can", func(t *testing.T) {
		s := newHarness(t)
		refused := s.playUnwritable(errWebhook, nil)
		s.playDone()
		s.await("a report that is refused", func() bool { return refused.Load() > 0 })
		s.restart()
		s.awaitFinished(v1alpha1.ReasonCompleted)
		if s.status().ReportName == "" {
			t.Error("the report was not written once it could be")
		}
	})
}

// checkWithoutReport wants the numbers, and a warning with the reason for the missing report.
func (s *harness) checkWithoutReport() {
	s.t.Helper()
	status := s.status()
	if status.ReportName != "" || status.Summary == nil {
		s.t.Fatalf("report %q and summary %+v, wanted no report, and the numbers", status.ReportName, status.Summary)
	}
	if got := strings.Join(status.Summary.Warnings, " "); !strings.Contains(got, "failed calling webhook") {
		s.t.Errorf("warnings %q do not mention the webhook", got)
	}
}

// TestAStatusThatIsTooLarge: the run ends without its numbers, for each source of the refusal.
func TestAStatusThatIsTooLarge(t *testing.T) {
	for name, err := range map[string]error{
		"for the API server": apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
		"for its etcd":       apierrors.NewInternalError(errors.New("etcdserver: request is too large")),
		"for its client":     apierrors.NewInternalError(errors.New("rpc error: code = ResourceExhausted desc = trying to send message larger than max (3 vs. 2)")),
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t)
			refused := s.playUnwritable(nil, func(status v1alpha1.EtcdBenchmarkStatus) error {
				if status.Summary == nil {
					return nil
				}
				return err
			})
			s.playDone()
			s.awaitFinished(v1alpha1.ReasonInvalidPlan)
			s.checkMessage("refused a status with the results")
			if status := s.status(); status.Summary != nil || refused.Load() == 0 {
				t.Errorf("summary %+v after %d refusals, wanted none after some", status.Summary, refused.Load())
			}
			if got := s.condition(v1alpha1.ConditionStalled); got != "True/"+v1alpha1.ReasonInvalidPlan {
				t.Errorf("Stalled is %q, wanted it to say of a run without a result what Finished does", got)
			}
		})
	}
}

// TestAStatusThatDoesNotNameTheCleanupJob: each Job mounts the target's Secrets, so their number is bounded. None is created
// before status has its name.
func TestAStatusThatDoesNotNameTheCleanupJob(t *testing.T) {
	hasUID := func(s v1alpha1.EtcdBenchmarkStatus) bool { return s.CleanupJob != nil && s.CleanupJob.UID != "" }
	for name, tc := range map[string]struct {
		refuses func(status v1alpha1.EtcdBenchmarkStatus, before int32) bool
		most    int
		want    string
	}{
		"no name":            {func(s v1alpha1.EtcdBenchmarkStatus, _ int32) bool { return s.CleanupJob != nil }, 0, "True/" + v1alpha1.ReasonKeysDeleted},
		"nothing after it":   {func(s v1alpha1.EtcdBenchmarkStatus, before int32) bool { return hasUID(s) || before > 0 }, 1, "True/" + v1alpha1.ReasonKeysDeleted},
		"names, but no UIDs": {func(s v1alpha1.EtcdBenchmarkStatus, _ int32) bool { return hasUID(s) }, 3, "False/" + v1alpha1.ReasonKeysLeft},
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t)
			refused := &atomic.Int32{}
			s.playUnwritable(nil, func(status v1alpha1.EtcdBenchmarkStatus) error {
				if !tc.refuses(status, refused.Load()) {
					return nil
				}
				refused.Add(1)
				return errWebhook
			})
			for _, a := range s.pods {
				a.exits(137, nil)
			}
			s.awaitFinished(v1alpha1.ReasonPodFailed)
			s.await("a status that is refused some times", func() bool { return refused.Load() > 2 })
			if tc.most == 3 {
				s.awaitCondition(v1alpha1.ConditionCleaned, tc.want)
			}
			if made := len(s.jobs(v1alpha1.ComponentCleanup)); made > tc.most {
				t.Errorf("found %d cleanup Jobs after %d refusals, wanted at most %d", made, refused.Load(), tc.most)
			}
			if tc.most < 3 {
				s.restart()
				s.playCleanup(batchv1.JobStatus{Succeeded: 1})
				s.awaitCondition(v1alpha1.ConditionCleaned, tc.want)
			}
		})
	}
}
