package zookeeper

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var (
	counters = map[string]results.Figure{
		"bytes_received_count": results.FigureClientReceivedBytes,
		"response_bytes":       results.FigureClientSentBytes,
	}
	gauges = map[string]members.Gauge{
		"approximate_data_size": members.GaugeDatabaseBytes,
		"outstanding_requests":  members.GaugePendingProposals,
	}
	// timers are in whole milliseconds. Their count and their sum have names of their own.
	timers = map[string]results.Timer{
		"fsynctime":     results.TimerWALFsync,
		"updatelatency": results.TimerHandling,
	}
)

var errNoMetrics = errors.New("neither the command mntr nor AdminServer on port " + adminPort + " returns them; " +
	"set 4lw.commands.whitelist=srvr,mntr in zoo.cfg")

// Sample implements load.Sampler.
func (d *Driver) Sample(ctx context.Context) map[string]members.Sample {
	return d.addresses.Samples(func(endpoint string) (members.Sample, error) {
		values, err := d.metrics(ctx, endpoint)
		s := sampleOf(values, time.Now())
		if err != nil {
			return s, err
		}
		// A server counts each election in which it takes part in its metrics, also one without a new leader. Each leader has a
		// new epoch.
		if h, err := d.healthOf(ctx, endpoint); err == nil {
			s.Counters[results.FigureLeaderChanges] = float64(h.epoch)
		}
		return s, nil
	})
}

// metrics reads the metrics of a server by the command mntr, which is off by default, or from AdminServer.
func (d *Driver) metrics(ctx context.Context, endpoint string) (values map[string]float64, err error) {
	answer, err := d.command(ctx, endpoint, "mntr")
	switch {
	case err != nil:
		return nil, err
	case strings.Contains(answer, notServing):
		return nil, errNotServing
	}
	if values = readMetrics(answer); len(values) > 0 {
		return values, nil
	}
	var all map[string]any
	if d.askAdmin(ctx, endpoint, "monitor", &all) {
		for name, value := range all {
			if v, ok := value.(float64); ok {
				values[name] = v
			}
		}
	}
	if len(values) == 0 {
		err = errNoMetrics
	}
	return values, err
}

// readMetrics reads the answer to mntr. It has a prefix before the names of AdminServer.
func readMetrics(answer string) map[string]float64 {
	values := map[string]float64{}
	for line := range strings.Lines(answer) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			values[strings.TrimPrefix(name, "zk_")] = v
		}
	}
	return values
}

// sampleOf returns the figures of a server's metrics.
func sampleOf(values map[string]float64, at time.Time) members.Sample {
	s := members.Sample{
		At: at, Counters: map[results.Figure]float64{}, Gauges: map[members.Gauge]float64{}, Timers: map[results.Timer]members.Histogram{},
	}
	for name, figure := range counters {
		if v, ok := values[name]; ok {
			s.Counters[figure] = v
		}
	}
	for name, gauge := range gauges {
		if v, ok := values[name]; ok {
			s.Gauges[gauge] = v
		}
	}
	for name, timer := range timers {
		if count, ok := values["cnt_"+name]; ok {
			s.Timers[timer] = members.Histogram{Count: count, Seconds: values["sum_"+name] / 1000, Cut: true}
		}
	}
	if uptime, ok := values["uptime"]; ok {
		s.Gauges[members.GaugeStart] = float64(at.UnixMilli())/1000 - uptime/1000
	}
	return s
}
