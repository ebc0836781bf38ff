package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	plugin = "bin/kubectl-etcdbench"
	// resultEnding and failedEnding are those of the files in resultsFolder: the result of a suite, or why there is none.
	resultEnding = ".json"
	failedEnding = ".failed"
)

// programs are the members of suites that need another etcd than defaultProgram.
var programs = map[string]string{httpSuite: oldProgram, overheadSuite: oldProgram}

// oldProgram has the v2 API.
const (
	defaultProgram = "bin/tools/etcd"
	oldProgram     = "bin/tools/etcd-debian"
)

// runAll runs suites on this machine, one after the other. A suite that fails leaves why, and the next one runs.
func runAll(quickly bool, names []string) error {
	files, err := filepath.Glob(filepath.Join(suitesFolder, "*.yaml"))
	if err != nil {
		return err
	}
	var found []string
	for _, file := range files {
		s, err := readSuite(file)
		if err != nil {
			return err
		}
		if found = append(found, s.Name); s.Name == storesSuite || len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if quickly {
			shrink(s)
		}
		if err := runSuite(s); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !slices.Contains(found, name) {
			return fmt.Errorf("wanted one of the suites %s, found %q", strings.Join(found, ", "), name)
		}
	}
	return nil
}

func readSuite(file string) (*v1alpha1.EtcdBenchmarkSuite, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &v1alpha1.EtcdBenchmarkSuite{}
	if err := yaml.UnmarshalStrict(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// runSuite runs a suite with the plugin. The plugin's exit status is no error of this program: what it said is kept.
func runSuite(s *v1alpha1.EtcdBenchmarkSuite) error {
	manifest, err := yaml.Marshal(s)
	if err != nil {
		return err
	}
	result, failed := filepath.Join(resultsFolder, s.Name+resultEnding), filepath.Join(resultsFolder, s.Name+failedEnding)
	for _, old := range []string{result, failed} {
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	began := time.Now()
	args := []string{"run", "--local", "-f", "-", "-o", "archive=" + result, "-o", "table"}
	args = append(args, "--member-binary", cmp.Or(programs[s.Name], defaultProgram))
	var said bytes.Buffer
	run := exec.Command(plugin, args...)
	run.Stdin, run.Stdout, run.Stderr = bytes.NewReader(manifest), os.Stdout, io.MultiWriter(os.Stderr, &said)
	ended := run.Run()
	fmt.Printf("%s took %s.\n\n", s.Name, time.Since(began).Round(time.Second))
	if _, err := os.Stat(result); err == nil {
		return nil
	}
	return os.WriteFile(failed, []byte(cmp.Or(lastLine(said.String()), fmt.Sprint(ended))+"\n"), 0o644)
}

// lastLine is the error of the plugin without its label.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "error: ")
}

// What a quick run has at most.
const (
	quickRequests = 20_000
	// quickShare is the part of the requests of a load that stays.
	quickShare   = 5
	quickSeconds = 2
)

// quickProcesses is how many processes a burst has at most.
var quickProcesses = map[string]int32{fragmentedSuite: 137, layoutsSuite: 1000, courseSuite: 7000, overheadSuite: 100, timeoutsSuite: 5000}

// shrink leaves every row of a suite, with less work for each.
func shrink(s *v1alpha1.EtcdBenchmarkSuite) {
	s.Spec.Rounds = 1
	s.Spec.Targets = slices.DeleteFunc(s.Spec.Targets, func(t v1alpha1.SuiteTarget) bool {
		return s.Name == layoutsSuite && (t.Name == "s5" || t.Name == "s7")
	})
	for i := range s.Spec.Loads {
		l := &s.Spec.Loads[i].Load
		if l.Requests != nil {
			*l.Requests = min(*l.Requests/quickShare, quickRequests)
		}
		if l.DurationSeconds != nil {
			*l.DurationSeconds = min(*l.DurationSeconds, quickSeconds)
		}
		if most := quickProcesses[s.Name]; most > 0 {
			l.Clients, l.Connections = min(l.Clients, most), min(l.Connections, most)
		}
	}
}
