package doctor

import (
	"cmp"
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// requestLimit is that of etcd's alert etcdGRPCRequestsSlow.
const requestLimit = 150 * time.Millisecond

// Method is what a member counted of one RPC in the recent window. Each message of a stream counts.
type Method struct {
	Name string
	// Received and Sent are numbers of messages. An RPC without streams receives requests and sends responses.
	Received, Sent float64
	// Handling times the requests of an RPC without streams. Its Count is 0 if the member does not report that.
	Handling results.Timing
}

// MeanBytes are the mean sizes of the messages that the member received from clients and sent to them in the recent window, over
// all RPCs; 0 if there were none, or if that is not known. etcd counts the bytes of no single RPC.
func (m Member) MeanBytes() (received, sent float64) {
	var in, out float64
	for _, method := range m.Methods {
		in, out = in+method.Received, out+method.Sent
	}
	mean := func(f results.Figure, messages float64) float64 {
		bytes, _ := m.Recent.Value(f)
		if messages == 0 {
			return 0
		}
		return bytes / messages
	}
	return mean(results.FigureClientReceivedBytes, in), mean(results.FigureClientSentBytes, out)
}

// slowRequests looks at each RPC in the recent window. A few fast requests of an RPC are no fault.
func slowRequests(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.measured() {
		for _, method := range m.Methods {
			timing := method.Handling
			isFast := timing.P99AtMost > 0 && timing.P99AtMost <= requestLimit
			cannot := func(why, needs string) {
				undecided = append(undecided, Undecided{Member: m.Name, Why: why, Needs: needs})
			}
			switch {
			case timing.Count == 0 || isFast || method.Name == "Defragment":
			case timing.Count < observations:
				cannot(fmt.Sprintf("the slowest of %s %s took %s", text.Plural(timing.Count, "request"), method.Name, bucket(timing)), fmt.Sprintf("%d requests: a longer window", observations))
			case timing.P99Above >= requestLimit || timing.Mean >= requestLimit:
				found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s takes long for requests %s: p99 %s, mean %s, %s times in the last %s.",
					m.Name, method.Name, bucket(timing), text.Duration(timing.Mean), text.Grouped(timing.Count), text.Duration(c.Length))})
			default:
				cannot(fmt.Sprintf("p99 of requests %s is %s, and the limit lies within", method.Name, bucket(timing)), "a histogram with a bound at "+text.Duration(requestLimit))
			}
		}
	}
	return found, undecided
}

// untimed are members that report no durations of requests, as etcd does unless told to.
func (c Cluster) untimed() (out []Undecided) {
	for _, m := range c.answering() {
		timed := false
		for _, method := range m.Methods {
			timed = timed || method.Handling.Count > 0
		}
		if !timed {
			out = append(out, Undecided{Kind: "SlowRequests", Member: m.Name, Why: cmp.Or(m.Unread, "it reports no durations of requests"), Needs: "--metrics=extensive of etcd"})
		}
	}
	return out
}
