package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Compared is a comparison of runs or of suites, as it is shown.
type Compared struct{ page page }

// String is the comparison as it is printed.
func (c *Compared) String() string { return c.page.text.String() }

// Blocks are what String shows, without the verdict.
func (c *Compared) Blocks() []Block { return c.page.blocks }

// comparedPage begins with the verdict and the sides.
func comparedPage(v v1alpha1.ComparisonVerdict, baseline, candidate string) *Compared {
	c := &Compared{}
	fmt.Fprintf(&c.page.text, "%s. %s\n\n", v, Headline(v))
	c.page.begin(PartHeader)
	c.side("baseline", baseline)
	c.side("candidate", candidate)
	return c
}

func (c *Compared) side(name, what string) {
	if what != "" {
		c.page.sentence(fmt.Sprintf("  %-9s  ", name), what)
	}
}

// finish adds the table and the notes below it.
func (c *Compared) finish(g grid, notes []string) *Compared {
	c.page.begin(PartComparison)
	c.page.section(g)
	if len(notes) > 0 {
		c.page.gap()
	}
	for _, note := range notes {
		c.page.sentence(bullet+" ", note)
	}
	return c
}

// Comparison shows a comparison of runs.
func Comparison(r compare.Result) *Compared {
	c := comparedPage(r.Verdict, sideText(r.Baseline), sideText(r.Candidate))
	c.side("clients", clientsText(r))
	g := grid{left: 1}
	g.add(ComparisonHeader...)
	for _, one := range r.Comparisons {
		g.add(ComparisonRow(one)...)
	}
	return c.finish(g, notesOf(r))
}

// ComparisonHeader has the columns of ComparisonRow.
var ComparisonHeader = []string{"METRIC", "ROUNDS", "BASELINE", "CANDIDATE", "CHANGE", "95 % INTERVAL", "TOLERANCE", "CLIENT ADDED", "VERDICT"}

// ComparisonRow is one comparison as the cells of a table.
func ComparisonRow(c v1alpha1.Comparison) []string {
	return []string{
		c.Metric.String(), text.Grouped(c.Rounds), metricValue(c.Metric, c.Baseline), metricValue(c.Metric, c.Candidate), signedPercent(c.ChangePerMillion),
		intervalText(c), fmt.Sprintf("%.0f %%", 100*c.Metric.Tolerance()), addedText(c), verdictWord(c),
	}
}

// addedText says how much of the mean latency the load generator may have added, for baseline and candidate.
func addedText(c v1alpha1.Comparison) string {
	if c.BaselineAddedPerMillion == 0 && c.CandidateAddedPerMillion == 0 {
		return thin
	}
	return fmt.Sprintf("≤%s, ≤%s", compare.ShareText(c.BaselineAddedPerMillion), compare.ShareText(c.CandidateAddedPerMillion))
}

// Headline says in a sentence what a verdict means.
func Headline(v v1alpha1.ComparisonVerdict) string {
	switch v {
	case v1alpha1.Regressed:
		return "The candidate is worse by more than the tolerance."
	case v1alpha1.NotRegressed:
		return "The candidate is not worse by more than the tolerance."
	}
	return "The runs do not decide whether the candidate is worse."
}

func sideText(s compare.Side) string {
	runs := strings.Join(s.Runs, ", ")
	if len(s.Targets) == 0 {
		return runs
	}
	return fmt.Sprintf("%s (%s)", runs, strings.Join(s.Targets, "; "))
}

// clientsText says on what the client pods ran: once, if it is the same for both sides.
func clientsText(r compare.Result) string {
	baseline, candidate := strings.Join(r.Baseline.Clients, "; "), strings.Join(r.Candidate.Clients, "; ")
	if baseline == candidate {
		return baseline
	}
	return fmt.Sprintf("baseline: %s; candidate: %s", cmp.Or(baseline, unknown), cmp.Or(candidate, unknown))
}

// notesOf explains the verdicts below the table. What holds for several metrics is said once.
func notesOf(r compare.Result) (notes []string) {
	about := map[string][]string{}
	var messages []string
	for _, c := range r.Comparisons {
		message := c.Message
		if message == "" {
			continue
		}
		if about[message] == nil {
			messages = append(messages, message)
		}
		about[message] = append(about[message], c.Metric.String())
	}
	for _, message := range messages {
		notes = append(notes, strings.Join(about[message], ", ")+": "+message)
	}
	for _, c := range r.Comparisons {
		if change, often, known := DetectableChange(c); known {
			notes = append(notes, fmt.Sprintf("%s: rounds like these find a change of %s in about %s comparisons. Smaller ones are often missed.",
				c.Metric, change, often))
		}
	}
	for _, side := range []struct {
		name string
		compare.Side
	}{{"baseline", r.Baseline}, {"candidate", r.Candidate}} {
		if len(side.Targets) > 1 {
			notes = append(notes, fmt.Sprintf("The runs of the %s had different targets (see above): the comparison is of their mixture.", side.name))
		}
	}
	for _, e := range r.Excluded {
		notes = append(notes, fmt.Sprintf("Left out with its round: %s, because %s.", e.Name, e.Why))
	}
	return notes
}

// DetectableChange is the smallest change for the worse that rounds like these find, and how often they find it. It is
// not known if the rounds were not judged. A change that was found needs none.
func DetectableChange(c v1alpha1.Comparison) (change, often string, known bool) {
	isJudged := c.Reason == "" || c.Reason == v1alpha1.ReasonTooFewRounds || c.Reason == v1alpha1.ReasonNoisy
	if c.SmallestRegressionPerMillion == nil || !isJudged || c.Verdict == v1alpha1.Regressed {
		return "", "", false
	}
	return signedPercent(c.SmallestRegressionPerMillion), compare.HowOften(c.Rounds), true
}

func verdictWord(c v1alpha1.Comparison) string {
	switch {
	case c.Verdict == v1alpha1.NotCompared:
		return fmt.Sprintf("Unknown (%s)", c.Reason)
	case c.Improved:
		return string(c.Verdict) + ", improved"
	}
	return string(c.Verdict)
}

func metricValue(m v1alpha1.Metric, v int64) string {
	switch {
	case v == 0:
		return thin
	case m.Type == v1alpha1.MetricThroughput:
		return text.RateOf(float64(v) / 1000).String()
	}
	return text.Duration(time.Duration(v) * time.Microsecond)
}

func intervalText(c v1alpha1.Comparison) string {
	if c.LowPerMillion == nil || c.HighPerMillion == nil {
		return thin
	}
	return signedPercent(c.LowPerMillion) + " to " + signedPercent(c.HighPerMillion)
}

// signedPercent writes parts per million as a signed percentage.
func signedPercent(perMillion *int64) string {
	if perMillion == nil {
		return thin
	}
	return text.SignedPercent(float64(*perMillion) / 1e6)
}

// confirmed is how many comparisons are decided by fresh rounds.
func confirmed(s *v1alpha1.EtcdBenchmarkSuite) (n int) {
	for _, c := range s.Status.Comparisons {
		if c.Confirming {
			n++
		}
	}
	return n
}
