package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// often looks for a counter that rises by more than a number in 15 minutes: in the recent window, or on average since the start. A
// few in the recent window decide nothing. All members count the same elections, so they are one finding.
func often(c Cluster, f results.Figure, most float64, what string) (found []Finding, undecided []Undecided) {
	var names, numbers []string
	for _, m := range c.measured() {
		recent, known := m.Recent.Value(f)
		all, _ := m.Started.Value(f)
		now := "in the last " + text.Duration(c.Length)
		reports := func(n float64, when string) {
			names = append(names, m.Name)
			numbers = append(numbers, fmt.Sprintf("%s counts %s %s", m.Name, text.Plural(int64(n), what), when))
		}
		switch {
		case recent > most:
			reports(recent, now)
		case all*float64(quarter)/float64(max(m.Uptime, quarter)) > most:
			reports(all, "since its start "+text.Duration(m.Uptime.Round(time.Second))+" ago")
		case !known:
			undecided = append(undecided, m.lacks("its "+what+"s", "its metrics"))
		case recent > 0:
			undecided = append(undecided, Undecided{Member: m.Name, Why: text.Plural(int64(recent), what) + " " + now, Needs: "a longer window"})
		}
	}
	if len(names) > 0 {
		found = append(found, Finding{Members: names, Message: strings.Join(numbers, "; ") + "."})
	}
	return found, append(undecided, c.unread()...)
}

func manyElections(c Cluster) ([]Finding, []Undecided) {
	return often(c, results.FigureLeaderChanges, leaderChanges-1, "leader change")
}

func manyFailures(c Cluster) ([]Finding, []Undecided) {
	return often(c, results.FigureFailedProposals, failedProposals, "failed proposal")
}

func applies(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.measured() {
		n, known := m.Recent.Value(results.FigureSlowApplies)
		switch {
		case !known:
			undecided = append(undecided, m.lacks("its slow applies", "its metrics"))
		case n >= slowApplies:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s applied %s slowly in the last %s.", m.Name, text.Plural(int64(n), "request"), text.Duration(c.Length))})
		}
	}
	return found, append(undecided, c.unread()...)
}
