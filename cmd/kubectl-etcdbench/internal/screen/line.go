package screen

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// barWidth is the number of cells of the progress bar.
const barWidth = 24

// line is the state of a run in one line, without a name or a time.
func line(run *v1alpha1.EtcdBenchmark) string {
	stage, message := v1alpha1.StagePending, ""
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		stage, message = c.Reason, c.Message
		if c.Status == metav1.ConditionTrue {
			// The result has the reason.
			message = ""
		}
	}
	switch stage {
	case v1alpha1.StageRunning, v1alpha1.StageCollecting:
		return joined(stage, bar(benchmark.Percent(run)), figures(run), remainder(run))
	case v1alpha1.ReasonCompleted, v1alpha1.ReasonStopped:
		return joined(stage, bar(benchmark.Percent(run)), figures(run))
	}
	return joined(stage, message)
}

func joined(parts ...string) string {
	var filled []string
	for _, p := range parts {
		if p != "" {
			filled = append(filled, p)
		}
	}
	return strings.Join(filled, "  ")
}

// remainder is the work that is left after the measurement. It can take long if the target does not answer.
func remainder(run *v1alpha1.EtcdBenchmark) string {
	switch benchmark.Phase(run) {
	case results.StageDraining:
		return "waiting for the last answers"
	case results.StageCleaning:
		return "deleting its keys"
	}
	return ""
}

// figures are the numbers of a run that has begun to measure.
func figures(run *v1alpha1.EtcdBenchmark) string {
	var parts []string
	if d := render.Display(run); d != nil && d.Throughput != "" {
		parts = append(parts, d.Throughput)
		if d.P99 != "" {
			parts = append(parts, "p99 "+d.P99)
		}
		if d.Errors != "" && d.Errors != "0" {
			parts = append(parts, d.Errors+" failed")
		}
	}
	return joined(append(parts, pods(run))...)
}

func pods(run *v1alpha1.EtcdBenchmark) string {
	d := render.Display(run)
	if d == nil {
		return ""
	}
	return d.Pods + " pods"
}

func bar(percent int32) string {
	done := int(min(max(percent, 0), 100)) * barWidth / 100
	return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", done), strings.Repeat("-", barWidth-done), percent)
}

// clock writes a duration as minutes and seconds.
func clock(d time.Duration) string {
	seconds := int(d / time.Second)
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// cut shortens text to width cells, so that a redrawn line never wraps.
func cut(text string, width int) string {
	runes := []rune(text)
	if width <= 0 || len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}
