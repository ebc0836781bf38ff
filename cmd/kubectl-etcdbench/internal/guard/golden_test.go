package guard

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/command"
	"github.com/etcdbench/etcd-benchmark-operator/config/samples"
)

var update = flag.Bool("update", false, "write the golden files")

// at is the time at which all objects were created.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A time in a table is in the zone of its reader.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// document is a text of titled sections.
type document struct{ bytes.Buffer }

func (d *document) add(title, text string) {
	fmt.Fprintf(d, "==== %s\n%s\n", title, strings.TrimRight(text, "\n"))
}

// addJSON adds a value with one field per line.
func (d *document) addJSON(t *testing.T, title string, value any) {
	t.Helper()
	data, err := json.MarshalIndent(value, "", "")
	if err != nil {
		t.Fatal(err)
	}
	d.add(title, string(data))
}

// compare compares a text with its golden file, or writes the file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-golden +now):\n%s", path, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
	}
}

// call runs the command with a manifest as its input, and returns what it prints and whether it succeeded.
func call(manifest string, args ...string) (out, errors string, ok bool) {
	var stdout, stderr bytes.Buffer
	streams := command.Streams{In: strings.NewReader(manifest), Out: &stdout, Err: &stderr}
	ok = command.Main("v0.0.0", args, streams, make(chan os.Signal)) == 0
	return stdout.String(), strings.TrimSpace(stderr.String()), ok
}

// readSamples returns the samples whose files begin with a prefix.
func readSamples(t *testing.T, prefix string) (chosen []samples.Sample) {
	t.Helper()
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if strings.HasPrefix(s.File, prefix) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no sample begins with %s", prefix)
	}
	return chosen
}

// written returns what a function writes.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
