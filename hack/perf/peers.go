package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// benchmark runs etcd's own tool with as many connections and clients, and divides its resource usage by a number of
// requests.
func (a *testbed) benchmark(ctx context.Context, connections, clients int, requests int64, args ...string) (sample, error) {
	all := append([]string{
		"--endpoints=" + a.server.endpoint, "--conns=" + strconv.Itoa(connections), "--clients=" + strconv.Itoa(clients), "--precise",
	}, args...)
	text, used, err := runProcess(ctx, a.programs.benchmark, all...)
	if err != nil {
		return nil, err
	}
	s, err := parseBenchmark(string(text))
	if err != nil {
		return nil, err
	}
	s.charge(used, requests)
	return s, nil
}

var (
	benchmarkRate   = regexp.MustCompile(`Requests/sec:\s+([0-9.e+-]+)`)
	benchmarkMean   = regexp.MustCompile(`\n\s+Average:\s+([0-9.e+-]+) secs`)
	benchmarkP50    = regexp.MustCompile(`\n\s+50%%? in ([0-9.e+-]+) secs`)
	benchmarkP99    = regexp.MustCompile(`\n\s+99%%? in ([0-9.e+-]+) secs`)
	benchmarkErrors = regexp.MustCompile(`(?s)Error distribution:.*`)
)

// parseBenchmark reads a report; txn-mixed writes one for its reads and one for its writes.
func parseBenchmark(text string) (sample, error) {
	if found := benchmarkErrors.FindString(text); found != "" {
		return nil, fmt.Errorf("benchmark: wanted no errors, found %.500s", found)
	}
	rates, means := numbers(benchmarkRate, text), numbers(benchmarkMean, text)
	p50s, p99s := numbers(benchmarkP50, text), numbers(benchmarkP99, text)
	if len(rates) == 0 || len(means) != len(rates) || len(p50s) != len(rates) || len(p99s) != len(rates) {
		return nil, fmt.Errorf("benchmark: wanted rates and percentiles, found %.500s", text)
	}
	s := sample{latencyMean: 1e6 * means[0], latencyP50: 1e6 * p50s[0], latencyP99: 1e6 * p99s[0], writeP50: 1e6 * p50s[len(p50s)-1]}
	for _, r := range rates {
		s[rate] += r
	}
	return s, nil
}

func numbers(pattern *regexp.Regexp, text string) (all []float64) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.ParseFloat(match[1], 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// h2load posts the bytes of a range request over plain HTTP/2, with many streams per connection.
func (a *testbed) h2load(ctx context.Context, connections, streams int, requests int64) (sample, error) {
	program, err := exec.LookPath("h2load")
	if err != nil {
		return nil, fmt.Errorf("h2load is not installed: on Debian, apt-get install nghttp2-client: %w", err)
	}
	body := filepath.Join(a.server.dir, "range.bin")
	if err := os.WriteFile(body, rangeFrame(), 0o600); err != nil {
		return nil, err
	}
	text, used, err := runProcess(ctx, program, "-n", strconv.FormatInt(requests, 10), "-c", strconv.Itoa(connections), "-m", strconv.Itoa(streams),
		"-d", body, "-H", "content-type: application/grpc", "-H", "te: trailers", "http://"+a.server.endpoint+"/etcdserverpb.KV/Range")
	if err != nil {
		return nil, err
	}
	s, err := parseH2load(string(text), requests, valueSize)
	if err != nil {
		return nil, err
	}
	s.charge(used, requests)
	return s, nil
}

// rangeFrame is a serializable range of the peers' key as one gRPC message: the compression flag, the length, the
// bytes.
func rangeFrame() []byte {
	// Marshal cannot fail for a message without required fields.
	message, _ := proto.Marshal(&etcdserverpb.RangeRequest{Key: []byte(peerKey), Serializable: true})
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	return append(frame, message...)
}

var (
	h2loadRate = regexp.MustCompile(`finished in [^,]+, ([0-9.]+) req/s`)
	h2loadDone = regexp.MustCompile(`(\d+) succeeded, `)
	h2loadData = regexp.MustCompile(`\((\d+)\) data`)
)

// parseH2load requires each reply to have at least so many bytes: h2load does not know gRPC, which sends errors with a
// successful HTTP status.
func parseH2load(text string, requests, bytes int64) (sample, error) {
	rates, done, data := numbers(h2loadRate, text), numbers(h2loadDone, text), numbers(h2loadData, text)
	if len(rates) != 1 || len(done) != 1 || len(data) != 1 || int64(done[0]) != requests || int64(data[0]) < requests*bytes {
		return nil, fmt.Errorf("h2load: wanted %d requests to succeed, each with %d B and more, found %.1000s", requests, bytes, text)
	}
	return sample{rate: rates[0]}, nil
}
