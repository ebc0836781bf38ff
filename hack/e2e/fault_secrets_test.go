//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// secretFaults remove the credentials with which a run's pods have connected.
func secretFaults() map[string]fault {
	completed := outcome{reason: v1alpha1.ReasonCompleted, counted: true}
	return map[string]fault{
		"Secret deleted": {
			secured: true, inject: deleteSecret, in: map[string]outcome{v1alpha1.StageRunning: completed},
		},
		"Secret deleted and unmounted": {
			// The run must last until the kubelet has removed the files.
			change:  func(b *v1alpha1.EtcdBenchmark) { b.Spec.TimeoutSeconds = int32(unmountedWithin.Seconds()) + 180 },
			secured: true, inject: unmountSecret, in: map[string]outcome{v1alpha1.StagePreparing: completed, v1alpha1.StageArmed: completed},
		},
		// The pod leaves keys, and the cleanup Job has no credentials.
		"Secret deleted and client pod killed": {
			secured: true, repair: restoreSecret,
			inject: func(t *testing.T, v victim) { deleteSecret(t, v); signalPod(0, syscall.SIGKILL)(t, v) },
			in: map[string]outcome{v1alpha1.StageRunning: {
				reason: v1alpha1.ReasonPodFailed, result: partial, reported: []int{1}, left: true, whyLeft: "Secret " + clientSecret,
			}},
		},
		"client certificate expired": {
			secured: true, start: startWithShortLife, inject: awaitExpiry, change: outliveCertificate,
			in: map[string]outcome{v1alpha1.StageRunning: {
				reason: v1alpha1.ReasonCompleted, measured: expiryRequests, failed: true, left: true, whyLeft: "expired",
			}},
		},
	}
}

const (
	// certificateLife is longer than a pod takes to connect, and shorter than the window of expirySeconds, in which
	// expiryRequests are due.
	certificateLife = 60 * time.Second
	expirySeconds   = 90
	expiryRequests  = 100 * expirySeconds
)

// unmountedWithin is far longer than an idle kubelet needs.
const unmountedWithin = 5 * time.Minute

// secure makes a target require certificates, and gives the run one.
func secure(t *testing.T, c *etcdCluster, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	if err := suite.secure(c); err != nil {
		t.Fatal(err)
	}
	b.Spec.Target.TLS = &v1alpha1.TargetTLS{SecretName: clientSecret}
}

func deleteSecret(t *testing.T, v victim) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.run.Namespace, Name: clientSecret}}
	if err := suite.client.Delete(suite.ctx, secret); err != nil {
		t.Fatal(err)
	}
}

// unmountSecret deletes the Secret and waits until the kubelet has removed its files from the pods.
func unmountSecret(t *testing.T, v victim) {
	pid, err := processOf(clientPod(t, v, 0).UID, "loadgen")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("/proc", strconv.Itoa(pid), "root", plan.TLSDir, plan.KeyFile)
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	deleteSecret(t, v)
	eventually(t, unmountedWithin, "the Secret's files to be gone from the pod", func(context.Context) error {
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			return fmt.Errorf("%s still exists: %w", file, err)
		}
		return nil
	})
}

func restoreSecret(t *testing.T, v victim) {
	user, err := issue(suite.authority, certificates.Holder{Name: "benchmark"})
	if err != nil {
		t.Fatal(err)
	}
	if err := suite.createSecret(v.run.Namespace, clientSecret, user); err != nil {
		t.Fatal(err)
	}
}

func outliveCertificate(b *v1alpha1.EtcdBenchmark) {
	b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, new(int32(expirySeconds))
	b.Spec.TimeoutSeconds = 240
}

// startWithShortLife starts the run with a certificate that is about to expire.
func startWithShortLife(t *testing.T, v victim) {
	user, err := issue(suite.authority, certificates.Holder{Name: "benchmark", NotAfter: time.Now().Add(certificateLife)})
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.run.Namespace, Name: clientSecret}}
	before := secret.DeepCopy()
	secret.Data = user
	if err := createdSecrets.add("the run's "+clientSecret, user); err != nil {
		t.Fatal(err)
	}
	if err := suite.client.Patch(suite.ctx, secret, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	awaitMeasuring(t, create(t, v.run)).DeepCopyInto(v.run)
}

// awaitExpiry waits until the certificate has expired, which does not affect open connections, and then breaks these.
func awaitExpiry(t *testing.T, v victim) {
	last(t, time.Until(v.run.CreationTimestamp.Add(certificateLife+2*time.Second)))
	resetConnections(t, v)
}
