package collector

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	scrapeDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "etcdbench_pod_scrape_duration_seconds",
		Help:    "How long the operator took to read the numbers of a client pod, also if that failed.",
		Buckets: []float64{0.001, 0.005, 0.02, 0.1, 0.5, 1, scrapeTimeout.Seconds()},
	})
	scrapeErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcdbench_pod_scrape_errors_total",
		Help: "Scrapes of client pods that failed: Timeout, Unreachable (no connection), Status (not HTTP 200), Invalid (no valid numbers), OtherPod (the address belongs to another pod now).",
	}, []string{"reason"})
)

// The reasons of a failed scrape.
const (
	reasonTimeout     = "Timeout"
	reasonUnreachable = "Unreachable"
	reasonStatus      = "Status"
	reasonInvalid     = "Invalid"
	reasonOtherPod    = "OtherPod"
)

var (
	errStatus   = errors.New("wanted status 200")
	errOtherPod = errors.New("the address belongs to another pod")
)

func init() {
	ctrlmetrics.Registry.MustRegister(scrapeDuration, scrapeErrors)
	// All reasons are there from the start: the rate of a counter that appears later lacks its first error.
	for _, reason := range []string{reasonTimeout, reasonUnreachable, reasonStatus, reasonInvalid, reasonOtherPod} {
		scrapeErrors.WithLabelValues(reason)
	}
}

// observe counts one scrape. A scrape that the operator interrupts, because it ends, does not count.
func observe(took time.Duration, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	scrapeDuration.Observe(took.Seconds())
	if err != nil {
		scrapeErrors.WithLabelValues(reasonOf(err)).Inc()
	}
}

func reasonOf(err error) string {
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errStatus):
		return reasonStatus
	case errors.Is(err, errOtherPod):
		return reasonOtherPod
	case isNet && timeout.Timeout():
		return reasonTimeout
	case isNet:
		return reasonUnreachable
	}
	return reasonInvalid
}
