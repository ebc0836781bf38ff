package results

import (
	"maps"
	"slices"
)

// withoutBuckets stands for the schema of histograms of which only count, sums,
// minimum and maximum are kept.
const withoutBuckets = MinSchema - 1

// Names of what a message has no room for, beside those of the tiers.
const (
	omittedWindow     = "window"
	omittedRequests   = "requests"
	omittedOperations = "operations"
	omittedTarget     = "target"
	omittedFigures    = "server figures"
)

// maxMessagePoints bounds the timeline in a message.
const maxMessagePoints = 32

// tier are histograms that are kept at one resolution, or left out together.
type tier struct {
	name       string
	histograms func(*OperationResult) []*Histogram
}

// tiers are in the order in which they get room. Censored requests rank among
// the latencies, so neither is of use without the other.
var tiers = [...]tier{
	{"latency", func(r *OperationResult) []*Histogram { return []*Histogram{&r.Latency, &r.Censored} }},
	{"service time", func(r *OperationResult) []*Histogram { return []*Histogram{&r.Service} }},
	{"lateness", func(r *OperationResult) []*Histogram { return []*Histogram{&r.Lateness} }},
	{"latency of failed requests", func(r *OperationResult) []*Histogram { return []*Histogram{&r.Failed} }},
}

// selection says what of a snapshot goes into a message. The bookkeeping of
// the pod and of its window always does.
type selection struct {
	operations, target, figures, marks bool
	// points of the timeline.
	points int
	// schemas of the tiers.
	schemas [len(tiers)]int
}

// step is a way to select more. Of its choices, the first that fits is taken.
type step struct {
	choices []func(*selection)
	// limit is how long the message may be with it.
	limit int
}

// steps are in the order of importance. The target goes before the histograms
// while it leaves half of the room to them, and else after them. The members'
// figures go right after the latency: they are judged, they can not be made
// coarser, and all that follows can.
var steps = slices.Concat(
	[]step{
		{[]func(*selection){func(c *selection) { c.operations = true }}, MaxTerminationBytes},
		{[]func(*selection){selectTarget}, MaxTerminationBytes / 2},
	},
	tierSteps()[:1],
	[]step{{[]func(*selection){selectFigures}, MaxTerminationBytes}},
	tierSteps()[1:],
	[]step{
		{[]func(*selection){selectTarget}, MaxTerminationBytes},
		{[]func(*selection){selectFigures}, MaxTerminationBytes},
		{[]func(*selection){selectMarks}, MaxTerminationBytes},
		{[]func(*selection){selectPoints(maxMessagePoints), selectPoints(maxMessagePoints / 2), selectPoints(maxMessagePoints / 4)}, MaxTerminationBytes},
	},
)

func selectTarget(c *selection) { c.target = true }

func selectPoints(n int) func(*selection) { return func(c *selection) { c.points = n } }

func selectMarks(c *selection) { c.marks = true }

func selectFigures(c *selection) { c.figures = c.target }

func tierSteps() []step {
	var all []step
	for i := range tiers {
		s := step{limit: MaxTerminationBytes}
		for schema := MaxSchema; schema >= MinSchema; schema-- {
			s.choices = append(s.choices, func(c *selection) { c.schemas[i] = schema })
		}
		all = append(all, s)
	}
	return all
}

// TerminationMessage returns the snapshot in at most MaxTerminationBytes of
// text. Histograms are lowered in resolution until they fit; what does not fit
// at all is named in Omitted of the decoded snapshot. The marks of disturbances
// and the timeline get what room is left, and are not missed.
func (s *Snapshot) TerminationMessage() []byte {
	chosen := selection{}
	for i := range chosen.schemas {
		chosen.schemas[i] = withoutBuckets
	}
	message := encodeTermination(s.selected(chosen))
	if len(message) > MaxTerminationBytes {
		return encodeTermination(s.bare())
	}
	for _, step := range steps {
		for _, choose := range step.choices {
			wider := chosen
			choose(&wider)
			if longer := encodeTermination(s.selected(wider)); len(longer) <= step.limit {
				chosen, message = wider, longer
				break
			}
		}
	}
	return message
}

// bare returns whose snapshot it is and how the pod ended. With three texts of
// bounded length it always fits.
func (s *Snapshot) bare() *Snapshot {
	return &Snapshot{
		RunUID: s.RunUID, Index: s.Index, Transport: s.Transport,
		Stage: s.Stage, Failure: s.Failure, Cleaning: s.Cleaning, Stopped: s.Stopped, Fired: s.Fired.bare(),
		Omitted: []string{omittedWindow, omittedRequests, omittedOperations, omittedTarget},
	}
}

// selected returns the selected part of a snapshot. It names what was left out.
func (s *Snapshot) selected(c selection) *Snapshot {
	part := *s
	part.Omitted = slices.Clone(s.Omitted)
	part.selectTarget(c)
	if !c.marks {
		part.Disturbances = withoutMarks(s.Disturbances)
	}
	part.Operations, part.Timeline = nil, Timeline{}
	if c.points > 0 {
		part.Timeline = s.Timeline.Folded(c.points)
	}
	if !c.operations {
		if len(s.Operations) > 0 {
			part.Omitted = append(part.Omitted, omittedOperations)
		}
		return &part
	}
	part.Operations = map[Operation]*OperationResult{}
	for operation, result := range s.Operations {
		part.Operations[operation] = result.selected(c.schemas)
	}
	for i, t := range tiers {
		if c.schemas[i] == withoutBuckets && s.hasAny(t) {
			part.Omitted = append(part.Omitted, t.name)
		}
	}
	return &part
}

// selectTarget leaves out the target, or its members' figures.
func (s *Snapshot) selectTarget(c selection) {
	switch {
	case s.Target == nil:
	case !c.target:
		s.Target = nil
		s.Omitted = append(s.Omitted, omittedTarget)
	case !c.figures && s.Target.hasFigures():
		s.Target = s.Target.withoutFigures()
		s.Omitted = append(s.Omitted, omittedFigures)
	}
}

func withoutMarks(disturbances map[DisturbanceKind]*Disturbance) map[DisturbanceKind]*Disturbance {
	out := maps.Clone(disturbances)
	for kind, d := range out {
		part := *d
		part.Marks = nil
		out[kind] = &part
	}
	return out
}

func (t *Target) hasFigures() bool {
	return slices.ContainsFunc(t.Members, func(m Member) bool { return m.Window != nil })
}

func (t *Target) withoutFigures() *Target {
	part := *t
	part.Members = slices.Clone(t.Members)
	for i := range part.Members {
		part.Members[i].Window = nil
	}
	return &part
}

// selected shares buckets with r: it replaces them, and never changes any.
func (r *OperationResult) selected(schemas [len(tiers)]int) *OperationResult {
	part := *r
	for i, t := range tiers {
		for _, h := range t.histograms(&part) {
			h.Reduce(schemas[i])
			if schemas[i] == withoutBuckets {
				h.dropBuckets()
			}
		}
	}
	return &part
}

// hasAny says whether a tier has something to lose.
func (s *Snapshot) hasAny(t tier) bool {
	for _, result := range s.Operations {
		for _, h := range t.histograms(result) {
			if h.Count() > 0 {
				return true
			}
		}
	}
	return false
}
