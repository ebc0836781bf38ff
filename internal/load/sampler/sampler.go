// Package sampler measures the process of a member from outside, at short intervals, and serves what it found as one JSON
// document over HTTP.
//
// It imports packages of the engine and the standard library. What cannot be read, as outside Linux, is absent.
package sampler

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// every is the time between two looks at the process.
	every = 100 * time.Millisecond
	// kept is how many looks are kept: those of the longest target.sampleIntervalSeconds, an hour.
	kept = int(time.Hour/every) + 100
	// cpuOver is the time over which the highest use of processors is a mean: the kernel counts in hundredths of a second.
	cpuOver = time.Second
)

// Answer is what a sampler serves.
type Answer struct {
	// Counters are those of the process and of its network, by the figure of their increase.
	Counters map[results.Figure]float64 `json:"counters"`
	// Gauges are the memory now, and the highest values in the asked time.
	Gauges map[members.Gauge]float64 `json:"gauges"`
	// Looks are those in the asked time, if there are at most members.MaxLooks.
	Looks []Look `json:"looks,omitempty"`
}

// Look is what one look at the process found.
type Look struct {
	// SecondsAgo is when, before the answer: the clocks of two nodes can differ.
	SecondsAgo float64                    `json:"secondsAgo"`
	Counters   map[results.Figure]float64 `json:"counters"`
	Memory     float64                    `json:"memory"`
}

// look is what one look at the process found.
type look struct {
	at       time.Time
	cpu      time.Duration
	resident int64
	// network is nil if the process has no network of its own.
	network map[results.Figure]float64
}

// shown is a look as an answer has it.
func (l look) shown(now time.Time) Look {
	counters := map[results.Figure]float64{results.FigureCPUSeconds: l.cpu.Seconds()}
	maps.Copy(counters, l.network)
	return Look{SecondsAgo: now.Sub(l.at).Seconds(), Counters: counters, Memory: float64(l.resident)}
}

// Sampler looks at one process.
type Sampler struct {
	// Find returns the process; none if there is none now.
	Find func() process.Other
	// Network: the process has a network namespace of its own.
	Network bool
	// Ready reports whether the member serves, for a probe at plan.ReadyPath; nil if no probe asks.
	Ready func(context.Context) bool

	mutex  sync.Mutex
	found  process.Other
	ring   []look
	newest int
}

// run looks at the process until ctx ends.
func (s *Sampler) run(ctx context.Context) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		s.look(time.Now())
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Serve runs, and serves answers, until ctx ends.
func (s *Sampler) Serve(ctx context.Context, listener net.Listener) {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	s.run(ctx)
	_ = server.Close()
}

// look looks once. What was kept of another process is dropped.
func (s *Sampler) look(now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	cpu, resident, err := s.found.Now()
	if err != nil {
		s.found, s.ring, s.newest = s.Find(), s.ring[:0], 0
		if cpu, resident, err = s.found.Now(); err != nil {
			return
		}
	}
	l := look{at: now, cpu: cpu, resident: resident}
	if s.Network {
		l.network = s.found.Network()
	}
	s.keep(l)
}

func (s *Sampler) keep(l look) {
	if len(s.ring) < kept {
		s.ring = append(s.ring, look{})
	}
	s.ring[s.newest%kept] = l
	s.newest++
}

// since returns the looks since a time, the first one first.
func (s *Sampler) since(from time.Time) (looks []look) {
	for i := max(0, s.newest-len(s.ring)); i < s.newest; i++ {
		if l := s.ring[i%kept]; !l.at.Before(from) {
			looks = append(looks, l)
		}
	}
	return looks
}

// Answer returns the counters now, and the highest values since a time.
func (s *Sampler) Answer(from time.Time) Answer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	a := Answer{Counters: s.found.Storage(), Gauges: map[members.Gauge]float64{}}
	if cpu, resident, err := s.found.Now(); err == nil {
		a.Counters[results.FigureCPUSeconds], a.Gauges[members.GaugeMemoryBytes] = cpu.Seconds(), float64(resident)
	}
	if s.Network {
		maps.Copy(a.Counters, s.found.Network())
	}
	looks, start, now := s.since(from), 0, time.Now()
	if len(looks) <= members.MaxLooks {
		for _, l := range looks {
			a.Looks = append(a.Looks, l.shown(now))
		}
	}
	for i, l := range looks {
		a.raise(members.GaugeMemoryHighest, float64(l.resident))
		// start is the last look that is far enough from this one.
		for start < i && l.at.Sub(looks[start+1].at) >= cpuOver {
			start++
		}
		if took := l.at.Sub(looks[start].at); took >= cpuOver {
			a.raise(members.GaugeCPUHighest, (l.cpu-looks[start].cpu).Seconds()/took.Seconds())
		}
	}
	return a
}

func (a Answer) raise(gauge members.Gauge, v float64) { a.Gauges[gauge] = max(a.Gauges[gauge], v) }

// secondsAsked is the parameter of a request: for how long before now the highest values are wanted. It is a duration,
// because the clocks of two nodes can differ.
const secondsAsked = "seconds"

// Path asks for the highest values since a time.
func Path(from time.Time) string {
	return fmt.Sprintf("/?%s=%.3f", secondsAsked, time.Since(from).Seconds())
}

// ServeHTTP implements http.Handler.
func (s *Sampler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == plan.ReadyPath {
		if s.Ready == nil || !s.Ready(r.Context()) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return
	}
	seconds, err := strconv.ParseFloat(r.URL.Query().Get(secondsAsked), 64)
	if err != nil {
		http.Error(w, "wanted seconds=NUMBER", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// The reader may have gone.
	_ = json.NewEncoder(w).Encode(s.Answer(time.Now().Add(-time.Duration(seconds * float64(time.Second)))))
}

// counters and gauges are all that an answer can have.
var (
	counters = []results.Figure{results.FigureCPUSeconds, results.FigureStorageReadBytes, results.FigureStorageWrittenBytes, results.FigurePodReceivedBytes, results.FigurePodSentBytes}
	gauges   = []members.Gauge{members.GaugeMemoryBytes, members.GaugeMemoryHighest, members.GaugeCPUHighest}
)

// askTimeout bounds a request to a sampler. It answers from memory, and nothing may wait long for it.
const askTimeout = time.Second

// mostSecondsAgo bounds the time of a look: far more than members.MaxLooks take.
const mostSecondsAgo = 3600

// mostBytes bounds an answer: far more than one has.
const mostBytes = 64 << 10

// Ask asks the sampler at an address for what it has measured, and for the highest values since a time.
func Ask(ctx context.Context, address string, since time.Time) (answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+Path(since), nil)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("found the status %s, wanted 200", response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, mostBytes))
}

// Add adds an answer to a sample of the member. It ignores what a sampler does not serve. What the sampler has measured replaces
// what the member says of itself, so that members of all stores are measured in one way.
func Add(answer []byte, to *members.Sample) error {
	var a Answer
	if err := json.Unmarshal(answer, &a); err != nil {
		return err
	}
	to.Counters = joined(to.Counters, a.Counters, counters)
	to.Gauges = joined(to.Gauges, a.Gauges, gauges)
	now := time.Now()
	for _, l := range a.Looks[:min(len(a.Looks), members.MaxLooks)] {
		to.Looks = append(to.Looks, members.Sample{
			At:       now.Add(-time.Duration(min(max(l.SecondsAgo, 0), mostSecondsAgo) * float64(time.Second))),
			Counters: joined(nil, l.Counters, counters), Gauges: map[members.Gauge]float64{members.GaugeMemoryBytes: l.Memory},
		})
	}
	return nil
}

// joined returns own, with the known keys of measured.
func joined[K comparable](own, measured map[K]float64, known []K) map[K]float64 {
	all := map[K]float64{}
	maps.Copy(all, own)
	for _, key := range known {
		if v, ok := measured[key]; ok {
			all[key] = v
		}
	}
	return all
}
