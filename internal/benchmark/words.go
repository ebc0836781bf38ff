package benchmark

import (
	"strings"
	"unicode/utf8"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// plural writes n and the noun that belongs to it.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return results.Grouped(n) + " " + noun + "s"
}

func loopText(l v1alpha1.Load) string {
	if l.Rate != nil {
		return "open loop " + offeredText(*l.Rate)
	}
	return "closed loop"
}

// offeredText says what rate was offered, and how.
func offeredText(r v1alpha1.Rate) string {
	text := "at " + Rate(r.PerSecond)
	switch {
	case r.Ramp != nil:
		text = "from " + Rate(r.Ramp.FromPerSecond) + " to " + Rate(r.Ramp.ToPerSecond)
	case len(r.Stages) > 0:
		text = "in " + plural(int64(len(r.Stages)), "stage") + " of at most " + Rate(highest(r.Stages))
	}
	if r.Arrival == v1alpha1.ArrivalPoisson {
		text += " (Poisson)"
	}
	return text
}

func highest(stages []v1alpha1.RateStage) (perSecond int64) {
	for _, s := range stages {
		perSecond = max(perSecond, s.PerSecond)
	}
	return perSecond
}

// membersText says which members got the load in the words of etcd's page.
func membersText(m v1alpha1.MemberSelection) string {
	switch m {
	case v1alpha1.MembersLeader:
		return "leader only"
	case v1alpha1.MembersFollowers:
		return "followers only"
	default:
		return "all members"
	}
}

// consistencyText is empty for writes, which have none to choose.
func consistencyText(w v1alpha1.Workload, op v1alpha1.Operation) string {
	switch {
	case op != v1alpha1.OperationRange:
		return ""
	case w.Range != nil:
		return strings.ToLower(string(w.Range.Consistency))
	case w.Mixed != nil:
		return strings.ToLower(string(w.Mixed.Consistency))
	case w.WatchGet != nil:
		return "serializable"
	}
	return ""
}

// wrap breaks text between words into lines of at most width characters; a
// word that is longer stays whole.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
