package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// seenLine has the fields of a line that these tests read.
type seenLine struct {
	Time                        time.Time
	Run, State, Stage           string
	Started, Completed, Failed  int64
	Percent                     int
	ThroughputPerSecond         float64
	IntervalThroughputPerSecond *float64
	P50Microseconds             int64
	P99Microseconds             int64
	Final, Partial              bool
	Summary                     *struct{ MeasuredRequests int64 }
}

func parseLines(t *testing.T, text string) (out []seenLine) {
	t.Helper()
	for each := range strings.Lines(text) {
		var l seenLine
		if err := json.Unmarshal([]byte(each), &l); err != nil {
			t.Fatalf("%v in the line %q", err, each)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		t.Fatal("found no lines")
	}
	return out
}

type seenPerfdash struct {
	Version   string
	DataItems []struct {
		Data   map[string]float64
		Labels map[string]string
		Unit   string
	}
}

func readPerfdash(t *testing.T, path string) (out seenPerfdash) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return out
}

func TestResultsInSeveralForms(t *testing.T) {
	dir := t.TempDir()
	perfdash, lines, object := filepath.Join(dir, "perfdash.json"), filepath.Join(dir, "lines"), filepath.Join(dir, "object.json")
	// The old content is longer than the result.
	if err := os.WriteFile(perfdash, []byte(strings.Repeat("x", 1<<16)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, _ := process(t, puts, "run", "--local", "--members", "1", "-f", "-", "-o", "perfdash="+perfdash, "-o", "jsonl="+lines, "-o", "json="+object)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "KEYS WRITTEN") {
		t.Errorf("wanted a table on standard output, found:\n%s", out)
	}
	got := readPerfdash(t, perfdash)
	if got.Version != "v1" || len(got.DataItems) < 2 || got.DataItems[0].Unit != "ms" || got.DataItems[0].Data["Perc99"] <= 0 {
		t.Errorf("wanted the latency of puts, found %+v", got)
	}
	if labels := got.DataItems[0].Labels; labels["Operation"] != "PUT" || labels["Partial"] != "" {
		t.Errorf("wanted a whole result, found the labels %v", labels)
	}
	requireReport(t, object, 2000)
	written, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	all := parseLines(t, string(written))
	if last := all[len(all)-1]; !last.Final || last.Partial || last.Summary == nil || last.Started != 2000 || last.Completed != 2000 {
		t.Errorf("wanted the whole result of 2,000 requests at the end, found %+v", last)
	}
}

// requireReport wants the object with its report: every request in the histograms, the timeline and the heatmap.
func requireReport(t *testing.T, path string, requests uint64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kind   string
		Status struct {
			Summary struct{ MeasuredRequests uint64 }
		}
		Report struct {
			Version    int
			Operations []struct {
				Histograms map[string]struct{ Count uint64 }
			}
			Timeline struct{ Points []struct{ Succeeded uint64 } }
			Heatmap  struct{ Columns []struct{ Count uint64 } }
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var overTime, inHeatmap uint64
	for _, p := range got.Report.Timeline.Points {
		overTime += p.Succeeded
	}
	for _, c := range got.Report.Heatmap.Columns {
		inHeatmap += c.Count
	}
	if got.Kind != "EtcdBenchmark" || got.Status.Summary.MeasuredRequests != requests || got.Report.Version != 2 ||
		got.Report.Operations[0].Histograms["latency"].Count != requests || overTime != requests || inHeatmap != requests {
		t.Errorf("wanted %d requests in every part, found %d over time, %d in the heatmap, in %+v", requests, overTime, inHeatmap, got.Status)
	}
}

// followed runs a command, reads its lines, and stops it in the measured window.
func followed(t *testing.T, signal os.Signal, args ...string) (all []seenLine, status int) {
	t.Helper()
	cmd, temporary := process(t, endless, args...)
	for scanner := bufio.NewScanner(started(t, cmd, cmd.StdoutPipe)); scanner.Scan(); {
		l := parseLines(t, scanner.Text())[0]
		if all = append(all, l); l.IntervalThroughputPerSecond != nil && *l.IntervalThroughputPerSecond > 0 {
			if err := cmd.Process.Signal(signal); err != nil {
				t.Error(err)
			}
			// A second signal would end the command without the result.
			signal = syscall.Signal(0)
		}
	}
	status = exitStatus(t, cmd.Wait())
	if left, _ := os.ReadDir(temporary); len(left) != 0 {
		t.Errorf("the members' data is left: %v", left)
	}
	return all, status
}

func TestLinesAreWrittenDuringTheRun(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			perfdash := filepath.Join(t.TempDir(), "perfdash.json")
			all, status := followed(t, signal, "run", "--local", "--members", "1", "-f", "-", "-o", "jsonl", "-o", "perfdash="+perfdash)
			if status != 3 {
				t.Errorf("wanted exit status 3, got %d", status)
			}
			first, last := all[0], all[len(all)-1]
			if first.Final || first.Run != "default/endless" || !last.Final || !last.Partial || last.State != "Stopped" {
				t.Errorf("wanted lines from the beginning to the end of a stopped run, found %+v … %+v", first, last)
			}
			if last.Summary == nil || last.Summary.MeasuredRequests == 0 || last.P50Microseconds == 0 || last.P99Microseconds < last.P50Microseconds {
				t.Errorf("wanted the measurement until the signal, found %+v", last)
			}
			wantRising(t, all)
			if got := readPerfdash(t, perfdash); len(got.DataItems) < 2 || got.DataItems[0].Labels["Partial"] != "true" {
				t.Errorf("wanted a partial result, found %+v", got)
			}
		})
	}
}

func wantRising(t *testing.T, all []seenLine) {
	t.Helper()
	for i, l := range all {
		if l.Completed > l.Started {
			t.Errorf("wanted no more than %d completed requests, found %d", l.Started, l.Completed)
		}
		if i > 0 && (l.Completed < all[i-1].Completed || l.Time.Before(all[i-1].Time)) {
			t.Errorf("wanted rising numbers, found %+v after %+v", l, all[i-1])
		}
	}
}

// The reader of the lines exits early, as head does.
func TestAnExitingReaderDoesNotPreventTheCleanup(t *testing.T) {
	brief := strings.Replace(endless, "durationSeconds: 3600", "durationSeconds: 6", 1)
	cmd, temporary := process(t, brief, "run", "--local", "--members", "1", "-f", "-", "-o", "jsonl", "--interval", "1ms")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout := started(t, cmd, cmd.StdoutPipe)
	if scanner := bufio.NewScanner(stdout); !scanner.Scan() {
		t.Error("found no line")
	}
	if err := stdout.Close(); err != nil {
		t.Fatal(err)
	}
	if got := exitStatus(t, cmd.Wait()); got != 2 || !strings.Contains(stderr.String(), "writing the result") {
		t.Errorf("wanted exit status 2 and the reason, got %d and:\n%s", got, stderr.String())
	}
	if left, _ := os.ReadDir(temporary); len(left) != 0 {
		t.Errorf("the members' data is left: %v", left)
	}
}

func TestARunWithoutAResultLeavesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result")
	cmd, _ := process(t, strings.Replace(puts, "clients: 30", "clients: 3", 1), "run", "--local", "--members", "1", "-f", "-", "-o", "json="+path)
	if got := exitStatus(t, cmd.Run()); got != 2 {
		t.Errorf("wanted exit status 2, got %d", got)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("wanted no file, found one (%v)", err)
	}
}
