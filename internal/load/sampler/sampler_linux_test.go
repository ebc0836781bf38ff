package sampler

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// asProcess makes this test binary a process that allocates and writes, then says so, and waits.
const asProcess = "SAMPLER_TEST_AS_PROCESS"

const (
	allocated = 64 << 20
	written   = 8 << 20
)

func TestMain(m *testing.M) {
	if file := os.Getenv(asProcess); file != "" {
		work(file)
	}
	os.Exit(m.Run())
}

func work(file string) {
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	memory := make([]byte, allocated)
	for i := range memory {
		memory[i] = byte(i)
	}
	err := os.WriteFile(file, memory[:written], 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("done\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(int(memory[0]))
}

// child starts such a process. work lets it work.
func child(t *testing.T) (of process.Other, work func()) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asProcess+"="+filepath.Join(t.TempDir(), "file"))
	in, inErr := command.StdinPipe()
	out, outErr := command.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	return process.Other{PID: command.Process.Pid}, func() {
		_, err := io.WriteString(in, "x")
		if line, readErr := bufio.NewReader(out).ReadString('\n'); line != "done\n" {
			t.Fatal(line, err, readErr)
		}
	}
}

// ask asks a sampler over HTTP and returns the member's sample with the answer.
func ask(t *testing.T, url string, from time.Time) members.Sample {
	t.Helper()
	response, err := http.Get(url + Path(from))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	s := members.Sample{Counters: map[results.Figure]float64{}, Gauges: map[members.Gauge]float64{}}
	if err != nil || Add(text, &s) != nil {
		t.Fatalf("%s (%v)", text, err)
	}
	return s
}

func TestSamplerMeasuresAProcess(t *testing.T) {
	other, work := child(t)
	s := &Sampler{Find: func() process.Other { return other }, Network: true}
	server := httptest.NewServer(s)
	defer server.Close()
	start := time.Now()
	s.look(start)
	first := ask(t, server.URL, start)
	work()
	s.look(time.Now())
	last := ask(t, server.URL, start)
	if got := last.Counters[results.FigureStorageWrittenBytes] - first.Counters[results.FigureStorageWrittenBytes]; got < written || got > 2*written {
		t.Errorf("the process wrote %v bytes, wanted about %d", got, written)
	}
	if got := last.Gauges[members.GaugeMemoryHighest] - first.Gauges[members.GaugeMemoryHighest]; got < allocated {
		t.Errorf("the memory grew by %v bytes, wanted at least %d", got, allocated)
	}
	if len(last.Counters) != len(counters) {
		t.Errorf("got the counters %v, wanted %v", last.Counters, counters)
	}
	s.Network = false
	if got := ask(t, server.URL, start).Counters; len(got) != 3 {
		t.Errorf("got %v without a network of its own, wanted only those of its work and storage", got)
	}
}

// A process that has ended is replaced by the next one, whose counters begin anew.
func TestSamplerFindsTheNextProcess(t *testing.T) {
	first, _ := child(t)
	found := []process.Other{first, {}, {PID: os.Getpid()}}
	s := &Sampler{Find: func() (o process.Other) {
		o, found = found[0], found[1:]
		return o
	}}
	s.look(time.Now())
	if len(s.ring) != 1 {
		t.Fatalf("got the looks %v, wanted one", s.ring)
	}
	s.found = process.Other{PID: -1}
	s.look(time.Now())
	if got := s.Answer(time.Time{}); len(got.Counters) != 0 || len(got.Gauges) != 0 {
		t.Errorf("got %v of no process", got)
	}
	s.look(time.Now())
	if len(s.ring) != 1 || s.found.PID != os.Getpid() {
		t.Errorf("got the looks %v at %+v, wanted one at the last process", s.ring, s.found)
	}
}
