package screen

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// barWidth is the number of cells of the progress bar.
const barWidth = 24

// line is the state of a run in one line, without a name or a time. percent is the share of it that is done.
func line(run *v1alpha1.EtcdBenchmark, percent int32) string {
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
		return joined(stage, bar(percent), figures(run), remainder(run), left(run))
	case v1alpha1.ReasonCompleted, v1alpha1.ReasonStopped:
		return joined(stage, bar(percent), figures(run))
	}
	if done := work(run); done != "" {
		return joined(stage, "writing what the load needs: "+done, left(run))
	}
	return joined(stage, message)
}

// work is how far the preload or the deletion has come.
func work(run *v1alpha1.EtcdBenchmark) string {
	p := run.Status.Progress
	if p == nil || p.Work == nil {
		return ""
	}
	out := fmt.Sprintf("%s of %s", text.Grouped(p.Work.Done), text.Grouped(p.Work.Total))
	if p.Work.PerSecond != "" {
		out += ", " + text.RateIn(p.Work.PerSecond).String()
	}
	return out
}

// left is the estimate for the current stage.
func left(run *v1alpha1.EtcdBenchmark) string {
	p := run.Status.Progress
	if p == nil || p.SecondsLeft == nil {
		return ""
	}
	what := ""
	if p.Work == nil {
		what = " of the window"
	}
	return clock(time.Duration(*p.SecondsLeft)*time.Second) + what + " left"
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
		return "waiting for the last responses"
	case results.StageCleaning:
		if done := work(run); done != "" {
			return "deleting its keys: " + done
		}
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
			parts = append(parts, p99Of(slowest(run), d.P99))
		}
		if now := newest(run); now != "" {
			parts = append(parts, now)
		}
		if d.Errors != "" && d.Errors != "0" {
			parts = append(parts, d.Errors+" failed")
		}
	}
	return joined(append(parts, pods(run))...)
}

// slowest is the kind of request whose latency Display shows.
func slowest(run *v1alpha1.EtcdBenchmark) spec.Operation {
	if s := run.Status.Summary; s != nil {
		return benchmark.LatencyOf(s).Operation
	}
	return run.Status.Progress.Operation
}

// p99Of names the kind of request, because other kinds of the same run may be faster.
func p99Of(operation spec.Operation, p99 string) string {
	return fmt.Sprintf("%s p99 %s", operation, p99)
}

// newest is the latency of the newest requests, beside that of all so far.
func newest(run *v1alpha1.EtcdBenchmark) string {
	p := run.Status.Progress
	if p == nil || p.Recent == nil || p.Recent.P99Microseconds == 0 || benchmark.Phase(run) != results.StageMeasuring {
		return ""
	}
	return fmt.Sprintf("(last %s: p50 %s, p99 %s)", text.Micros(p.Recent.DurationMicroseconds), text.Micros(p.Recent.P50Microseconds), text.Micros(p.Recent.P99Microseconds))
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
