package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
)

// etcdPage is the sample of etcd's performance page with a hundred requests for each cell.
func etcdPage(t *testing.T) v1alpha1.EtcdBenchmarkSuite {
	t.Helper()
	var s v1alpha1.EtcdBenchmarkSuite
	readSample(t, samplesOf(t, "published/suite_etcd_page.yaml")[0], &s)
	for i := range s.Spec.Loads {
		l := &s.Spec.Loads[i].Load
		l.Clients, l.Connections, l.Requests = min(l.Clients, 20), min(l.Connections, 10), new(int64(100))
	}
	return s
}

// tablesOf returns the tables with a column CELL, each with its lines as words.
func tablesOf(page string) (tables [][]string) {
	inTable := false
	for line := range strings.Lines(page) {
		words := strings.Join(strings.Fields(line), " ")
		switch {
		case strings.HasPrefix(words, "CELL "):
			tables, inTable = append(tables, nil), true
		case words == "" || strings.HasPrefix(words, "In brackets"):
			inTable = false
		}
		if inTable {
			last := len(tables) - 1
			tables[last] = append(tables[last], words)
		}
	}
	return tables
}

// ranOnMembers runs a suite on members that the command starts. It returns what the command prints, and the runs.
func ranOnMembers(t *testing.T, s v1alpha1.EtcdBenchmarkSuite, members int) (printed string, runs []report.Run) {
	t.Helper()
	out := &output{}
	i, release := newInterrupts(make(chan os.Signal))
	defer release()
	tool := &tool{Streams: Streams{In: strings.NewReader(manifestOf(t, s)), Out: out, Err: &output{}}, interrupts: i}
	f := &runFlags{local: true}
	f.options.Members = members
	suites, err := admission.Suites()
	must(t, err)
	// Runs are kept only if a form shows them.
	f.destinations, err = parseDestinations([]string{"html=" + filepath.Join(t.TempDir(), "page.html")}, forms)
	must(t, err)
	must(t, f.destinations.open(out, f.following))
	m, err := tool.readManifest("-")
	must(t, err)
	m.Object.SetNamespace(defaultNamespace)
	admitted, err := suites.Create(m.Object, time.Now())
	must(t, err)
	l, err := tool.checked(f, m, admitted)
	must(t, err)
	must(t, l.run())
	return out.String(), l.ended
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The sample prints the three writes and the four reads of etcd's page in the page's columns. Each run has new members:
// etcd draws the ID of a cluster when its members start without data.
func TestTheSampleOfEtcdsPageOnMembers(t *testing.T) {
	t.Parallel()
	printed, runs := ranOnMembers(t, etcdPage(t), 1)
	const numbers = ` [0-9.,]+ \([-+][0-9.]+ %\) [0-9.]+(µs|ms|s) ([0-9.]+(µs|ms|s)|–) [0-9]+ MB`
	want := [][]string{{
		`CELL KEYS WRITTEN CONNECTIONS CLIENTS TARGET WRITE QPS AVG LATENCY P99 AVG SERVER RSS`,
		`leader/put/one Put 100 1 1 leader only` + numbers,
		`leader/put/many Put 100 10 20 leader only` + numbers,
		`all/put/many Put 100 10 20 all members` + numbers,
	}, {
		`CELL REQUESTS CONNECTIONS CLIENTS CONSISTENCY READ QPS AVG LATENCY P99 AVG SERVER RSS`,
		`all/linearizable/one Range 100 1 1 Linearizable` + numbers,
		`all/linearizable/many Range 100 10 20 Linearizable` + numbers,
		`all/serializable/one Range 100 1 1 Serializable` + numbers,
		`all/serializable/many Range 100 10 20 Serializable` + numbers,
	}}
	// Beside other tests, the load generator can be the limit of a run.
	printed = strings.ReplaceAll(printed, " (invalid) ", " ")
	matches := func(line, pattern string) bool { return regexp.MustCompile("^" + pattern + "$").MatchString(line) }
	matchAll := func(got, want []string) bool { return slices.EqualFunc(got, want, matches) }
	if got := tablesOf(printed); !slices.EqualFunc(got, want, matchAll) {
		t.Errorf("got\n%q\nwanted\n%q", got, want)
	}
	ids := map[string]string{}
	for _, r := range runs {
		id := r.Object.Status.Target.ClusterID
		if other := ids[id]; other != "" || id == "" {
			t.Errorf("%s has the cluster %q, wanted another one than %s", r.Object.Name, id, other)
		}
		ids[id] = r.Object.Name
	}
	if len(runs) != 7 {
		t.Errorf("found %d runs, wanted 7", len(runs))
	}
}

// The sample reads from each of three members alone and then from all of them, and prints the sum of the three beside that.
func TestTheSampleOfMembersLoadsEachAlone(t *testing.T) {
	t.Parallel()
	var s v1alpha1.EtcdBenchmarkSuite
	readSample(t, samplesOf(t, "published/suite_etcd_pods.yaml")[0], &s)
	for i := range s.Spec.Loads {
		s.Spec.Loads[i].Load = spec.Load{Connections: 3, Clients: 6, Requests: new(int64(60))}
	}
	printed, runs := ranOnMembers(t, s, 3)
	for _, r := range runs {
		target := r.Object.Status.Target
		if r.Object.Spec.Target.Members == spec.MembersLeader {
			continue
		}
		for _, m := range target.Members {
			alone := r.Object.Spec.Target.MemberIndex
			if want := alone == nil || target.Endpoints[*alone] == m.Endpoint; m.Loaded == nil || *m.Loaded != want {
				t.Errorf("%s: member %s got load: %v, wanted %t", r.Object.Name, m.Endpoint, m.Loaded, want)
			}
		}
	}
	var cells []string
	for _, line := range tablesOf(printed)[1][1:] {
		if cell := strings.Fields(line)[0]; strings.Contains(cell, "/serializable/") {
			cells = append(cells, strings.Replace(cell, "/serializable", "", 1))
		}
	}
	if want := []string{"first/one", "second/one", "third/one", "sum/one", "first/many", "second/many", "third/many", "sum/many", "all/many"}; len(runs) != 12 || !slices.Equal(cells, want) {
		t.Errorf("%d runs, and the rows %q, wanted %q", len(runs), cells, want)
	}
}
