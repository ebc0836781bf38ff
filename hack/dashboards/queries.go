package main

import (
	"fmt"
	"strings"
)

// during is the range of a rate. Grafana replaces it with at least four times the panel's shortest interval.
const during = "[$__rate_interval]"

// series is a metric with the matchers of its labels.
type series struct{ name, matchers string }

func (s series) String() string { return s.name + "{" + s.matchers + "}" }

// suffixed is one of the series of a classic histogram.
func (s series) suffixed(suffix string) string { return series{s.name + suffix, s.matchers}.String() }

// by is the clause of an aggregation.
func by(labels ...string) string {
	if len(labels) == 0 {
		return ""
	}
	return " by (" + strings.Join(labels, ", ") + ") "
}

// rate is the increase of a counter per second.
func rate(counter series, labels ...string) string {
	return fmt.Sprintf("sum%s(rate(%s%s))", by(labels...), counter, during)
}

// eventRate is the number of observations of a histogram per second, from a native or from a classic histogram.
func eventRate(histogram series, labels ...string) string {
	return fmt.Sprintf("sum%s(histogram_count(rate(%s%s))) or sum%s(rate(%s%s))",
		by(labels...), histogram, during, by(labels...), histogram.suffixed("_count"), during)
}

// quantile is a percentile of a histogram. A native histogram is more exact than a classic one.
func quantile(q float64, histogram series, labels ...string) string {
	return fmt.Sprintf("histogram_quantile(%v, sum%s(rate(%s%s))) or histogram_quantile(%v, sum%s(rate(%s%s)))",
		q, by(labels...), histogram, during, q, by(append(labels, "le")...), histogram.suffixed("_bucket"), during)
}

// buckets is the form of a histogram that a heatmap draws. The classic buckets are left out if there are native ones.
func buckets(histogram series) string {
	native := fmt.Sprintf("sum(rate(%s%s))", histogram, during)
	return fmt.Sprintf("%s or (sum by (le) (rate(%s%s)) unless on () %s)", native, histogram.suffixed("_bucket"), during, native)
}
