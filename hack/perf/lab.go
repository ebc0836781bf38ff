package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	namespace         = "etcdbench-perf"
	operatorNamespace = "etcdbench-system"
	operatorName      = "etcd-benchmark-operator"
	// patience bounds every wait; nothing of this takes as long.
	patience = 3 * time.Minute
)

// lab is the place of the measurements: a namespace with a target in it.
type lab struct {
	client client.WithWatch
	set    kubernetes.Interface
	// image is the operator's, which the client pods use too.
	image string
}

// newLab makes the namespace and the target, and waits for them.
func newLab(ctx context.Context, kubeconfig string) (*lab, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	l := &lab{}
	if l.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if l.set, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if err := l.findOperator(ctx); err != nil {
		return nil, err
	}
	return l, l.makeTarget(ctx)
}

func (l *lab) findOperator(ctx context.Context) error {
	var operator appsv1.Deployment
	if err := l.client.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: operatorName}, &operator); err != nil {
		return fmt.Errorf("wanted the operator in the cluster; `make cluster-up deploy` puts it there: %w", err)
	}
	l.image = operator.Spec.Template.Spec.Containers[0].Image
	return nil
}

func (l *lab) makeTarget(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted",
	}}}
	if err := l.client.Create(ctx, ns); err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join("hack", "manifests", "etcd.yaml"))
	if err != nil {
		return fmt.Errorf("run this from the root of the checkout: %w", err)
	}
	for document := range strings.SplitSeq(string(manifest), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return err
		}
		object.SetNamespace(namespace)
		if err := l.client.Create(ctx, object); err != nil {
			return err
		}
	}
	return l.awaitTarget(ctx)
}

func (l *lab) awaitTarget(ctx context.Context) error {
	var etcd appsv1.StatefulSet
	return poll(ctx, func(ctx context.Context) (bool, error) {
		err := l.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "etcd"}, &etcd)
		return err == nil && etcd.Spec.Replicas != nil && etcd.Status.ReadyReplicas == *etcd.Spec.Replicas, err
	})
}

// close removes the namespace, interrupted or not, and waits for it to go.
func (l *lab) close() {
	ctx := context.Background()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := l.client.Delete(ctx, ns); err != nil {
		fmt.Fprintln(os.Stderr, "perf: removing the namespace:", err)
		return
	}
	err := poll(ctx, func(ctx context.Context) (bool, error) {
		err := l.client.Get(ctx, client.ObjectKeyFromObject(ns), ns)
		return err != nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf: waiting for the namespace to go:", err)
	}
}

// poll asks until the answer is yes. What is timed is never timed by polling.
func poll(ctx context.Context, check wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, patience, true, check)
}
