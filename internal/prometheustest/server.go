package prometheustest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/processtest"
)

// Server is a running Prometheus.
type Server struct {
	address string
	output  bytes.Buffer
}

// Start starts a program of Prometheus with scrape jobs, and ends it with the test.
func Start(t testing.TB, program string, every time.Duration, jobs ...Job) *Server {
	t.Helper()
	dir := t.TempDir()
	config, err := yaml.Marshal(map[string]any{
		"global":         map[string]any{"scrape_interval": every.String(), "scrape_timeout": every.String()},
		"scrape_configs": jobs,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := freeport.Addresses(1)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{address: free[0]}
	command := exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+s.address)
	command.Stdout, command.Stderr = &s.output, &s.output
	ended, err := processtest.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		<-ended
		if t.Failed() {
			t.Logf("output of Prometheus:\n%s", s.output.String())
		}
	})
	s.awaitReady(t)
	return s
}

func (s *Server) awaitReady(t testing.TB) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return s.get(ctx, "/-/ready", nil, nil) == nil, nil
	})
	if err != nil {
		t.Fatalf("Prometheus is not ready: %v", err)
	}
}

// get decodes an answer into out; nil ignores it.
func (s *Server) get(ctx context.Context, path string, values url.Values, out any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path+"?"+values.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: wanted status 200, found %s: %s", path, response.Status, body)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

// Result is one series that a query returned: values has floats, and histograms counts those that are histograms.
type Result struct {
	Labels     map[string]string
	Values     []float64
	Histograms int
}

// Range runs a query over a time, with one value per step.
func (s *Server) Range(ctx context.Context, query string, from, to time.Time, step time.Duration) ([]Result, error) {
	var answer struct {
		Data struct {
			Result []struct {
				Metric     map[string]string `json:"metric"`
				Values     [][2]any          `json:"values"`
				Histograms [][2]any          `json:"histograms"`
			} `json:"result"`
		} `json:"data"`
	}
	err := s.get(ctx, "/api/v1/query_range", url.Values{
		"query": {query}, "start": {seconds(from)}, "end": {seconds(to)}, "step": {strconv.FormatFloat(step.Seconds(), 'f', 3, 64)},
	}, &answer)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", query, err)
	}
	var all []Result
	for _, r := range answer.Data.Result {
		result := Result{Labels: r.Metric, Histograms: len(r.Histograms)}
		for _, v := range r.Values {
			text, _ := v[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("query %s: wanted numbers, found %v", query, v)
			}
			result.Values = append(result.Values, value)
		}
		all = append(all, result)
	}
	return all, nil
}

// LabelValues returns the values of a label of the series that match a selector.
func (s *Server) LabelValues(ctx context.Context, selector, label string, from, to time.Time) ([]string, error) {
	var answer struct {
		Data []string `json:"data"`
	}
	err := s.get(ctx, "/api/v1/label/"+label+"/values", url.Values{"match[]": {selector}, "start": {seconds(from)}, "end": {seconds(to)}}, &answer)
	return answer.Data, err
}

func seconds(at time.Time) string {
	return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)
}
