package wire

import (
	"maps"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// withoutBuckets stands for the schema of histograms that keep only count, sums, minimum and maximum.
const withoutBuckets = results.MinSchema - 1

// Names in Omitted, in addition to the tiers' names and those of package results.
const (
	omittedWindow    = "window"
	omittedRequests  = "requests"
	omittedFigures   = "server figures"
	omittedDiagnosis = "diagnosis"
)

// maxMessagePoints bounds the timeline in a message.
const maxMessagePoints = 32

// tier is a group of histograms that are kept at one resolution, or left out together.
type tier struct {
	name       string
	histograms func(*results.OperationResult) []*results.Histogram
}

// tiers are in the order of their priority. Censored requests rank among the latencies, so these two histograms are
// useless without each other.
var tiers = [...]tier{
	{"latency", func(r *results.OperationResult) []*results.Histogram {
		return []*results.Histogram{&r.Latency, &r.Censored}
	}},
	{"net latency", func(r *results.OperationResult) []*results.Histogram { return []*results.Histogram{&r.Net} }},
	{"service time", func(r *results.OperationResult) []*results.Histogram { return []*results.Histogram{&r.Service} }},
	{"lateness", func(r *results.OperationResult) []*results.Histogram { return []*results.Histogram{&r.Lateness} }},
	{"wait for a free client", func(r *results.OperationResult) []*results.Histogram { return []*results.Histogram{&r.Backlog} }},
	{"latency of failed requests", func(r *results.OperationResult) []*results.Histogram { return []*results.Histogram{&r.Failed} }},
}

// selection is the part of a snapshot that goes into a message. The state of the pod and of its window is always
// included.
type selection struct {
	operations, target, diagnosis, figures, marks, examples bool
	// points of the timeline.
	points int
	// schemas of the tiers.
	schemas [len(tiers)]int
}

// step adds a part to the selection. The first of its choices that fits is taken.
type step struct {
	choices []func(*selection)
	// limit is the maximum length of the message with this part.
	limit int
}

// steps are in order of importance. The target comes before the histograms if it leaves half of the room to them,
// otherwise after them. The members' figures come right after the latency: objectives use them and they cannot be made
// coarser, unlike everything after them.
var steps = slices.Concat(
	[]step{
		{[]func(*selection){func(c *selection) { c.operations = true }}, MaxTerminationBytes},
		{[]func(*selection){selectDiagnosis, selectTarget}, MaxTerminationBytes / 2},
	},
	tierSteps()[:1],
	[]step{{[]func(*selection){selectFigures}, MaxTerminationBytes}},
	tierSteps()[1:],
	[]step{
		{[]func(*selection){selectDiagnosis, selectTarget}, MaxTerminationBytes},
		{[]func(*selection){selectFigures}, MaxTerminationBytes},
		{[]func(*selection){selectExamples}, MaxTerminationBytes},
		{[]func(*selection){selectMarks}, MaxTerminationBytes},
		{[]func(*selection){selectPoints(maxMessagePoints), selectPoints(maxMessagePoints / 2), selectPoints(maxMessagePoints / 4)}, MaxTerminationBytes},
	},
)

func selectTarget(c *selection) { c.target = true }

func selectDiagnosis(c *selection) { c.target, c.diagnosis = true, true }

func selectPoints(n int) func(*selection) { return func(c *selection) { c.points = n } }

func selectMarks(c *selection) { c.marks = true }

func selectExamples(c *selection) { c.examples = true }

func selectFigures(c *selection) { c.figures = c.target }

func tierSteps() []step {
	var all []step
	for i := range tiers {
		s := step{limit: MaxTerminationBytes}
		for schema := results.MaxSchema; schema >= results.MinSchema; schema-- {
			s.choices = append(s.choices, func(c *selection) { c.schemas[i] = schema })
		}
		all = append(all, s)
	}
	return all
}

// TerminationMessage encodes the snapshot in at most MaxTerminationBytes of text. It lowers the resolution of
// histograms until they fit; parts that do not fit at all are named in Omitted of the decoded snapshot. The examples of
// errors, the marks of disturbances and the timeline get the remaining room; their absence is not recorded.
func TerminationMessage(s *results.Snapshot) []byte {
	chosen, d := selection{}, newDeflater()
	for i := range chosen.schemas {
		chosen.schemas[i] = withoutBuckets
	}
	message := encodeTermination(selected(s, chosen), d)
	if len(message) > MaxTerminationBytes {
		return encodeTermination(bare(s), d)
	}
	for _, step := range steps {
		for _, choose := range step.choices {
			wider := chosen
			choose(&wider)
			if longer := encodeTermination(selected(s, wider), d); len(longer) <= step.limit {
				chosen, message = wider, longer
				break
			}
		}
	}
	return message
}

// bare returns only the pod's identity and how it ended. With three texts of bounded length it always fits.
func bare(s *results.Snapshot) *results.Snapshot {
	return &results.Snapshot{
		RunUID: s.RunUID, Index: s.Index, Transport: s.Transport,
		Stage: s.Stage, Failure: s.Failure, Cleaning: s.Cleaning, Stopped: s.Stopped, Fired: bareFired(s.Fired),
		Omitted: []string{omittedWindow, omittedRequests, results.OmittedOperations, results.OmittedTarget},
	}
}

// bareFired drops the texts.
func bareFired(f *results.Fired) *results.Fired {
	if f == nil {
		return nil
	}
	return &results.Fired{Rule: f.Rule, Got: f.Got, Limit: f.Limit, At: f.At}
}

// selected returns the selected part of a snapshot and records the omitted parts.
func selected(s *results.Snapshot, c selection) *results.Snapshot {
	part := *s
	part.Omitted = slices.Clone(s.Omitted)
	cutTarget(&part, c)
	if !c.marks {
		part.Disturbances = withoutMarks(s.Disturbances)
	}
	part.Operations, part.Timeline = nil, results.Timeline{}
	if c.points > 0 {
		part.Timeline = s.Timeline.Folded(c.points, 0)
	}
	if !c.operations {
		if len(s.Operations) > 0 {
			part.Omitted = append(part.Omitted, results.OmittedOperations)
		}
		return &part
	}
	part.Operations = map[spec.Operation]*results.OperationResult{}
	for operation, result := range s.Operations {
		part.Operations[operation] = reduced(result, c.schemas)
		if !c.examples {
			part.Operations[operation].Examples = nil
		}
	}
	for i, t := range tiers {
		if c.schemas[i] == withoutBuckets && t.hasAny(s) {
			part.Omitted = append(part.Omitted, t.name)
		}
	}
	return &part
}

// cutTarget removes the target, or its members' figures, if they are not selected.
func cutTarget(s *results.Snapshot, c selection) {
	switch {
	case s.Target == nil:
	case !c.target:
		s.Target = nil
		s.Omitted = append(s.Omitted, results.OmittedTarget)
		return
	case !c.figures && hasFigures(s.Target):
		s.Target = withoutFigures(s.Target)
		s.Omitted = append(s.Omitted, omittedFigures)
	}
	if s.Target != nil && s.Target.Diagnosis != nil && !c.diagnosis {
		part := *s.Target
		part.Diagnosis, s.Target = nil, &part
		s.Omitted = append(s.Omitted, omittedDiagnosis)
	}
}

func withoutMarks(disturbances map[spec.DisturbanceType]*results.Disturbance) map[spec.DisturbanceType]*results.Disturbance {
	out := maps.Clone(disturbances)
	for kind, d := range out {
		part := *d
		part.Marks = nil
		out[kind] = &part
	}
	return out
}

func hasFigures(t *results.Target) bool {
	return slices.ContainsFunc(t.Members, func(m results.Member) bool { return m.Window != nil })
}

func withoutFigures(t *results.Target) *results.Target {
	part := *t
	part.Members = slices.Clone(t.Members)
	for i := range part.Members {
		part.Members[i].Window = nil
	}
	return &part
}

// reduced shares buckets with r; it replaces them but does not change them.
func reduced(r *results.OperationResult, schemas [len(tiers)]int) *results.OperationResult {
	part := *r
	for i, t := range tiers {
		for _, h := range t.histograms(&part) {
			h.Reduce(schemas[i])
			if schemas[i] == withoutBuckets {
				h.DropBuckets()
			}
		}
	}
	return &part
}

// hasAny reports whether a histogram of the tier is not empty.
func (t tier) hasAny(s *results.Snapshot) bool {
	for _, result := range s.Operations {
		for _, h := range t.histograms(result) {
			if h.Count() > 0 {
				return true
			}
		}
	}
	return false
}
