//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// requireLeft requires that keys are left, and that the object, or an event about its deletion, says how to delete
// them. If repair is set, the deletion of the object deletes them; otherwise the test does, with that command.
func (v victim) requireLeft(t *testing.T, want outcome, repair func(*testing.T, victim)) {
	t.Helper()
	condition := ""
	if want.reason != "" {
		condition = v.requireNotCleaned(t, want.whyLeft)
	}
	requireSecrecyIn(t, v.run.Namespace)
	if repair != nil {
		repair(t, v)
	}
	if err := suite.client.Delete(suite.ctx, v.run.DeepCopy()); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	eventually(t, goneWithin, "the object to be gone", func(ctx context.Context) error { return deleted(ctx, v.run) })
	if repair != nil {
		v.requireCleaned(t, true)
		return
	}
	if len(mustStore(t, v.target, v.run.KeyPrefix())) == 0 {
		t.Errorf("wanted keys to be left under %s, found none", v.run.KeyPrefix())
	}
	v.requireCommandReported(t, condition)
	v.deleteByHand(t)
}

// requireNotCleaned waits for Cleaned=False and returns its message.
func (v victim) requireNotCleaned(t *testing.T, why string) string {
	t.Helper()
	var cleaned *metav1.Condition
	eventually(t, cleanedWithin, "Cleaned to be False", func(ctx context.Context) error {
		found, err := get(ctx, v.run)
		if err != nil {
			return err
		}
		found.DeepCopyInto(v.run)
		if cleaned = meta.FindStatusCondition(found.Status.Conditions, v1alpha1.ConditionCleaned); cleaned == nil || cleaned.Status != metav1.ConditionFalse {
			return fmt.Errorf("the condition is %+v", cleaned)
		}
		return nil
	})
	if missing := containsAll(cleaned.Message, []string{why, benchmark.Leftover(v.run).Command}); missing != nil {
		t.Error(missing)
	}
	return cleaned.Message
}

// requireCommandReported requires an event with the command, beside that of the condition. If the namespace is gone, the
// operator's log must have the command.
func (v victim) requireCommandReported(t *testing.T, condition string) {
	t.Helper()
	if v.run.Namespace != v.target.namespace {
		if log := operatorLog(t); !strings.Contains(log, benchmark.Leftover(v.run).Command) {
			t.Errorf("wanted the operator's log to say %q", benchmark.Leftover(v.run).Command)
		}
		return
	}
	eventually(t, finishWithin, "an event with the command that deletes the keys", func(ctx context.Context) error {
		var events corev1.EventList
		if err := suite.client.List(ctx, &events, client.InNamespace(v.run.Namespace)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Reason == v1alpha1.ReasonKeysLeft && e.Message != condition && strings.Contains(e.Message, benchmark.Leftover(v.run).Command) {
				return nil
			}
		}
		return fmt.Errorf("none of %d events has the command", len(events.Items))
	})
}

func operatorLog(t *testing.T) string {
	t.Helper()
	pod, err := suite.operatorPod(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	log, err := suite.set.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// deleteByHand runs the reported command, with the flags for TLS that etcdctl needs.
func (v victim) deleteByHand(t *testing.T) {
	t.Helper()
	command := benchmark.Leftover(v.run).Command
	if v.run.Spec.Target.TLS != nil {
		command += " " + strings.Join(clientFlags(t), " ")
	}
	cmd := exec.CommandContext(suite.ctx, "bash", "-c", command)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+suite.kubeconfig, "PATH="+filepath.Join(suite.root, "bin")+":"+filepath.Join(suite.root, "bin", "tools")+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	v.requireCleaned(t, true)
}

// clientFlags are the flags for TLS of a client.
func clientFlags(t *testing.T) (flags []string) {
	t.Helper()
	user, err := issue(suite.authority, certificates.Holder{Name: "benchmark"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for flag, file := range map[string]string{"--cacert": plan.CAFile, "--cert": plan.CertFile, "--key": plan.KeyFile} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, user[file], 0o600); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, flag, path)
	}
	return flags
}
