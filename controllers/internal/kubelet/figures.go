package kubelet

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// LeastWindow is the shortest window that has figures: samples are up to 20 s apart.
const LeastWindow = 2 * time.Minute

// Window is the measured window of a run.
type Window struct{ Start, End time.Time }

func (w Window) length() time.Duration { return w.End.Sub(w.Start) }

// isOff reports whether a time between two samples differs from the window by more than a tenth.
func (w Window) isOff(sampled time.Duration) bool {
	return (sampled - w.length()).Abs() > w.length()/10
}

// sandbox is the container that holds a pod's network.
const sandbox = "POD"

// containers returns the series of the containers of a pod. A runtime that the kubelet does not know shows no container,
// but the control group of the pod, which has them all.
func (p page) containers() page {
	pod, each := page{}, page{}
	for key, at := range p {
		switch {
		case key.family == bytesReceived || key.family == bytesSent || key.container == sandbox:
		case key.container == "":
			pod[key] = at
		default:
			each[key] = at
		}
	}
	if len(each) > 0 {
		return each
	}
	return pod
}

// family returns the series of one family.
func (p page) family(f string) page {
	out := maps.Clone(p)
	maps.DeleteFunc(out, func(key series, _ point) bool { return key.family != f })
	return out
}

// isAfter reports whether all of a pod was sampled after this time.
func (p page) isAfter(end time.Time) bool {
	for _, now := range p {
		if now.at.Before(end) {
			return false
		}
	}
	return len(p) > 0
}

// figures compares two pages of a pod. Without samples of its containers that fit the window there are none.
func figures(before, after page, w Window, hostNetwork bool) (out v1alpha1.KubeletFigures) {
	first, last := before.containers(), after.containers()
	used, sampled, why := rates(first.family(cpuSeconds), last.family(cpuSeconds), w)
	if why != "" {
		return absent(why)
	}
	out.SampledMicroseconds = sampled.Microseconds()
	out.CPUMillicores = whole(1000 * total(used))
	out.RSSBytes, out.WorkingSetBytes = sum(last.family(rss)), sum(last.family(workingSet))
	out.ReadBytesPerSecond, out.WrittenBytesPerSecond = busiest(first, last, bytesRead), busiest(first, last, bytesWritten)
	received, _, why := rates(before.family(bytesReceived), after.family(bytesReceived), w)
	sent, _, _ := rates(before.family(bytesSent), after.family(bytesSent), w)
	switch {
	case hostNetwork:
		why = "the pod has the network of its node"
	case why == "":
		out.ReceivedBytesPerSecond, out.SentBytesPerSecond = whole(perInterface(received)), whole(perInterface(sent))
	}
	var missing []string
	if why != "" {
		missing = append(missing, "network: "+why)
	}
	if out.WrittenBytesPerSecond == nil {
		missing = append(missing, "disk: the kubelet counted no bytes")
	}
	out.Unknown = strings.Join(missing, "; ")
	return out
}

// rates returns the increase of each counter per second, the longest time between two samples, or why there is none.
func rates(before, after page, w Window) (all map[series]float64, sampled time.Duration, why string) {
	if len(before) == 0 || len(after) == 0 {
		return nil, 0, "the kubelet has no figures of it"
	}
	all = map[series]float64{}
	for key, last := range after {
		first, known := before[key]
		if !known || len(before) != len(after) || last.value < first.value {
			return nil, 0, "a container of the pod ended, or was started, in the window"
		}
		apart := last.at.Sub(first.at)
		if w.isOff(apart) {
			return nil, 0, fmt.Sprintf("the kubelet's samples are %s apart, and the window has %s: more than a tenth off", text.Duration(apart), text.Duration(w.length()))
		}
		all[key], sampled = (last.value-first.value)/apart.Seconds(), max(sampled, apart)
	}
	return all, sampled, ""
}

// busiest is the rate of the device with most bytes, added up over the containers. A device without a sample before had
// no bytes then; its time is that of the container's processors.
func busiest(before, after page, family string) *int64 {
	most := map[string]float64{}
	for key, last := range after.family(family) {
		first, known := before[key]
		if cpu, sampled := before.cpuOf(key); !known && sampled {
			first, known = point{0, cpu.at}, true
		}
		if apart := last.at.Sub(first.at); known && apart > 0 && last.value >= first.value {
			most[key.id] = max(most[key.id], (last.value-first.value)/apart.Seconds())
		}
	}
	if len(most) == 0 {
		return nil
	}
	return whole(total(most))
}

func (p page) cpuOf(of series) (point, bool) {
	at, known := p[series{family: cpuSeconds, id: of.id, container: of.container}]
	return at, known
}

// perInterface adds up interfaces. The sandbox and the control group of a pod can count the same one.
func perInterface(all map[series]float64) float64 {
	most := map[string]float64{}
	for key, v := range all {
		most[key.part] = max(most[key.part], v)
	}
	return total(most)
}

func total[K comparable](all map[K]float64) (sum float64) {
	for _, v := range all {
		sum += v
	}
	return sum
}

// sum adds up gauges.
func sum(p page) *int64 {
	if len(p) == 0 {
		return nil
	}
	all := 0.0
	for _, at := range p {
		all += at.value
	}
	return whole(all)
}

// whole returns nil for what no pod can have.
func whole(v float64) *int64 {
	if math.IsNaN(v) || v < 0 || v > text.MostExact {
		return nil
	}
	return new(int64(math.Round(v)))
}
