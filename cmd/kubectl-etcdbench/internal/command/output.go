package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/screen"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

// The forms of a result.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

// usualWidth is that of a terminal which does not tell.
const usualWidth = 80

func checkOutput(output string) error {
	switch output {
	case outputTable, outputJSON, outputYAML:
		return nil
	}
	return fmt.Errorf("--output: wanted table, json or yaml, found %q", output)
}

// screen shows progress on the error stream, redrawn if that is a terminal.
func (t *tool) screen() *screen.Screen {
	file, ok := t.Err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return screen.New(t.Err, nil)
	}
	return screen.New(file, func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return usualWidth
		}
		return width
	})
}

// conclude prints a finished run and returns its exit status. timeline may be
// nil.
func (t *tool) conclude(run *v1alpha1.EtcdBenchmark, timeline *benchmark.Timeline, output string) error {
	if err := write(t.Out, run, timeline, output); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	status := statusOfRun(run)
	if status == exitDone {
		return nil
	}
	if output == outputTable {
		return &exitError{status: status}
	}
	return &exitError{status, why(run, status)}
}

// why says in words what a table would have shown.
func why(run *v1alpha1.EtcdBenchmark, status int) error {
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	if status != exitFailed && (c == nil || c.Reason == v1alpha1.ReasonCompleted) {
		c = meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	}
	if c == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", c.Reason, c.Message)
}

func write(out io.Writer, run *v1alpha1.EtcdBenchmark, timeline *benchmark.Timeline, output string) error {
	if output == outputTable {
		return benchmark.WriteTable(out, run, timeline)
	}
	run = run.DeepCopy()
	run.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(manifest.Kind))
	run.ManagedFields = nil
	data, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return err
	}
	if output == outputJSON {
		data = append(data, '\n')
	} else if data, err = yaml.JSONToYAML(data); err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}
