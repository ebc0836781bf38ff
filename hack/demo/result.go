package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
)

// conclude prints the result as a table, says where the rest is, and returns
// an error unless the run has completed.
func (d *demo) conclude(out io.Writer) error {
	run, err := readResult(resultFile)
	if err != nil {
		return err
	}
	if err := requireCompleted(run); err != nil {
		return fmt.Errorf("%w (the whole object is in %s)", err, resultFile)
	}
	d.say("Done.\n")
	if err := render.WriteTable(out, run, d.timeline(run)); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe finished object is in %s.\n", resultFile)
	if path := d.kubeconfig(); path != "" {
		fmt.Fprintf(out, "Look around:  export KUBECONFIG=$PWD/%s; bin/tools/kubectl get eb -n %s\n", path, namespace)
	}
	if end := d.howToEnd(); end != "" {
		fmt.Fprintf(out, "End it all:   %s\n", end)
	}
	return nil
}

// timeline returns what came when, from the run's report; nil if that is not to
// be had.
func (d *demo) timeline(run *v1alpha1.EtcdBenchmark) *benchmark.Timeline {
	if d.place == venueLocal || run.Status.ReportName == "" {
		return nil
	}
	cmd := d.prepare(context.Background(), kubectl, "get", "configmap", run.Status.ReportName, "--namespace", namespace, "--output=json")
	var configMap corev1.ConfigMap
	cmd.Stdout = nil
	data, err := cmd.Output()
	if err != nil || json.Unmarshal(data, &configMap) != nil {
		return nil
	}
	timeline, err := benchmark.ReportTimeline([]byte(configMap.Data[benchmark.ReportFile]))
	if err != nil {
		return nil
	}
	return timeline
}

func (d *demo) howToEnd() string {
	switch d.place {
	case venueHost:
		return "make cluster-down"
	case venueKind:
		return "kind delete cluster --name " + kindCluster
	case venueCurrent:
		return fmt.Sprintf("bin/tools/kubectl delete namespace %s; bin/tools/helm uninstall etcd-benchmark-operator -n etcdbench-system", namespace)
	default:
		return ""
	}
}

func readResult(path string) (*v1alpha1.EtcdBenchmark, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var run v1alpha1.EtcdBenchmark
	if err := json.Unmarshal(data, &run); err != nil {
		return nil, fmt.Errorf("wanted a finished EtcdBenchmark in %s: %w", path, err)
	}
	return &run, nil
}

// requireCompleted returns an error that says how the run ended instead.
func requireCompleted(run *v1alpha1.EtcdBenchmark) error {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	switch {
	case finished == nil:
		return fmt.Errorf("the run has no condition %s", v1alpha1.ConditionFinished)
	case finished.Status != metav1.ConditionTrue:
		return fmt.Errorf("the run has not finished; it is %s: %s", finished.Reason, finished.Message)
	case finished.Reason != v1alpha1.ReasonCompleted:
		return fmt.Errorf("the run finished as %s: %s", finished.Reason, finished.Message)
	}
	return nil
}
