package render

import (
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// mostMethods is how many RPCs of a member are shown.
const mostMethods = 3

// requestsServed has the busiest RPCs of each member, after a row for all of them. Only that row has sizes.
func requestsServed(c doctor.Cluster) grid {
	g := grid{left: 2}
	g.add("MEMBER", "RPC", "RECEIVED", "SENT", "MEAN TIME", "P99", "MEAN RECEIVED", "MEAN SENT")
	for _, m := range c.Members {
		length, _ := m.Recent.Value(results.FigureSampledSeconds)
		if len(m.Methods) == 0 || length == 0 {
			continue
		}
		rate := func(messages float64) string { return text.RateOf(messages / length).String() }
		var all doctor.Method
		for _, method := range m.Methods {
			all.Received, all.Sent = all.Received+method.Received, all.Sent+method.Sent
		}
		received, sent := m.MeanBytes()
		g.add(m.Name, "all", rate(all.Received), rate(all.Sent), unknown, unknown, size(received), size(sent))
		for _, method := range m.Methods[:min(mostMethods, len(m.Methods))] {
			mean, p99 := unknown, unknown
			if method.Handling.Count > 0 {
				mean, p99 = text.Duration(method.Handling.Mean), bound(method.Handling)
			}
			g.add(m.Name, method.Name, rate(method.Received), rate(method.Sent), mean, p99, unknown, unknown)
		}
	}
	shown := g.known()
	for _, row := range shown.rows {
		for i, cell := range row {
			if cell == unknown {
				row[i] = thin
			}
		}
	}
	return shown
}

func size(bytes float64) string {
	if bytes == 0 {
		return unknown
	}
	return text.Bytes(bytes)
}

// notLookedFor are the checks that were not made, as a sentence for each reason.
func (p *page) notLookedFor(all []doctor.Undecided) {
	for _, u := range alike(all) {
		p.sentence("  ", fmt.Sprintf("Not looked for: %s of %s: %s. It takes %s.", u.Kind, u.Member, strings.TrimSuffix(u.Why, "."), u.Needs))
	}
}
