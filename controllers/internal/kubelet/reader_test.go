package kubelet

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var key = types.NamespacedName{Namespace: "ns", Name: "run"}

// kubeletServer answers with the next of these pages, and again with the last. It counts its reads.
type kubeletServer struct {
	*httptest.Server
	reads atomic.Int32
}

func serve(t *testing.T, pages ...string) *kubeletServer {
	s := &kubeletServer{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(s.reads.Add(1)) - 1
		switch {
		case r.URL.Path != "/metrics/cadvisor" || r.Method != http.MethodGet:
			t.Errorf("%s of %s", r.Method, r.URL.Path)
		case r.Header.Get("Authorization") != "Bearer the token":
			http.Error(w, "no", http.StatusForbidden)
		default:
			_, _ = io.WriteString(w, pages[min(n, len(pages)-1)])
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// reader returns one that trusts the server, unless a change says otherwise.
func (s *kubeletServer) reader(t *testing.T, cluster rest.Config, change func(*Config)) *Reader {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := Config{CAFile: filepath.Join(t.TempDir(), "ca.crt")}
	if c.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	r, err := New(&cluster, c)
	if err != nil {
		t.Fatal(err)
	}
	r.every = time.Millisecond
	return r
}

// measured has a run of this window read, and returns the figures of its only member.
func measured(t *testing.T, r *Reader, w Window, pods ...Pod) v1alpha1.KubeletFigures {
	t.Helper()
	r.Begin(key, "1", w.Start, 0, pods)
	defer r.Forget(key)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if known := r.End(key, w); known != nil {
			return known[pods[0].Endpoint]
		}
	}
	t.Fatal("the figures were not known in a minute")
	return v1alpha1.KubeletFigures{}
}

var member = Pod{Endpoint: "10.0.0.1:2379", Namespace: "ns", Name: "db-0", Host: "127.0.0.1"}

// A node is read once at the start of the window, and after it until its sample is newer.
func TestReaderTakesTheFirstSampleAfterTheWindow(t *testing.T) {
	older := pageText(minutes.End.Add(-time.Second), 55, 240_000)
	s := serve(t, pageText(start.Add(-8*time.Second), 10, 1000), older, older, pageText(start.Add(242*time.Second), 60, 251_000), pageText(start.Add(300*time.Second), 90, 900_000))
	got := measured(t, s.reader(t, rest.Config{BearerToken: "the token"}, nil), minutes, member)
	if got.CPUMillicores == nil || *got.CPUMillicores != 200 || *got.ReceivedBytesPerSecond != 1000 {
		t.Errorf("wanted 200 m and 1,000 B/s, found %+v", got)
	}
	if n := s.reads.Load(); n != 4 {
		t.Errorf("found %d reads, wanted 4", n)
	}
}

func TestReaderSaysWhyItHasNothing(t *testing.T) {
	first, older := pageText(start, 10, 1000), pageText(minutes.End.Add(-100*time.Second), 55, 240_000)
	for what, tc := range map[string]struct {
		token  string
		change func(*Config)
		w      Window
		pod    Pod
		why    string
		reads  int32
	}{
		"no right":                 {"another token", nil, minutes, member, "it must be allowed to get nodes/metrics", 1},
		"a certificate of its own": {"the token", func(c *Config) { c.CAFile = "" }, minutes, member, "certificate", 0},
		"a short window":           {"the token", nil, Window{start, start.Add(119 * time.Second)}, member, "the window has 119s", 1},
		"another pod":              {"the token", nil, minutes, Pod{Endpoint: "e", Namespace: "ns", Name: "db-1", Host: "127.0.0.1"}, "no figures of it", 1 + readsAfter},
		"no newer sample":          {"the token", nil, minutes, member, "140s apart", 1 + readsAfter},
	} {
		t.Run(what, func(t *testing.T) {
			s := serve(t, first, older)
			got := measured(t, s.reader(t, rest.Config{BearerToken: tc.token}, tc.change), tc.w, tc.pod)
			if !strings.Contains(got.Unknown, tc.why) || got.CPUMillicores != nil || s.reads.Load() != tc.reads {
				t.Errorf("wanted no figures because %q after %d reads, found %+v after %d", tc.why, tc.reads, got, s.reads.Load())
			}
		})
	}
}

func TestReaderTakesAnyCertificateIfToldSo(t *testing.T) {
	s := serve(t, pageText(start, 10, 1000), pageText(minutes.End, 60, 251_000))
	r := s.reader(t, rest.Config{BearerToken: "the token", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("of the API server")}}, func(c *Config) { c.CAFile, c.Insecure = "", true })
	if got := measured(t, r, minutes, member); got.CPUMillicores == nil {
		t.Errorf("found no figures: %s", got.Unknown)
	}
}

// A run that is forgotten is read no more, and a new start begins anew.
func TestReaderForgets(t *testing.T) {
	s := serve(t, "")
	r := s.reader(t, rest.Config{BearerToken: "the token"}, nil)
	r.Begin(key, "1", start, time.Hour, []Pod{member})
	begun := r.runs[key]
	for what, has := range map[string]bool{
		"the run": r.Has(key, "1", start), "no other start": !r.Has(key, "1", start.Add(1)), "no other run": !r.Has(key, "2", start),
	} {
		if !has {
			t.Errorf("wanted %s", what)
		}
	}
	r.Forget(key)
	if r.Has(key, "1", start) || r.End(key, minutes) == nil {
		t.Error("the run was not forgotten")
	}
	if begun.stop(); s.reads.Load() != 0 {
		t.Error("the kubelet was read before the start of the window")
	}
}
