package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

const (
	// frames is how many scrapes of a load differ in their histograms.
	frames = 24
	// podRequests is how many requests a pod sends.
	podRequests = 240_000
	// deviation is the standard deviation of the logarithm of a duration: durations spread over five decades, so that the
	// histograms have many buckets.
	deviation = 2.8
	// leastScrape is the size that a scrape has at the end of the load.
	leastScrape = 40 << 10
)

// tape is the load that every pod plays: its requests so far in each frame, and these as encoded families of metrics. What
// differs between pods is encoded for each scrape.
type tape struct {
	frames []frame
	course results.Course
}

type frame struct {
	// results are those of a mixed workload, half of the requests reads.
	results map[spec.Operation]*results.OperationResult
	// body are the encoded results.
	body []byte
	// families are the names of the families in body.
	families map[string]bool
}

// record makes the tape.
func record() (*tape, error) {
	t := &tape{}
	r := rand.New(rand.NewPCG(19, 19))
	reads, writes := &results.OperationResult{Errors: map[string]uint64{}}, &results.OperationResult{Errors: map[string]uint64{}}
	timeline := results.Timeline{}
	for n := range frames {
		for i := range podRequests / frames {
			if i%2 == 0 {
				add(r, reads)
			} else {
				add(r, writes)
			}
			timeline.Record(time.Duration(n*podRequests/frames+i)*time.Millisecond, 5*time.Millisecond, true)
		}
		f, err := newFrame(map[spec.Operation]*results.OperationResult{spec.OperationRange: clone(reads), spec.OperationPut: clone(writes)})
		if err != nil {
			return nil, err
		}
		t.frames = append(t.frames, f)
	}
	if size := len(t.frames[frames-1].body); size < leastScrape {
		return nil, fmt.Errorf("wanted a scrape of at least %d bytes, made one of %d", leastScrape, size)
	}
	t.course.Timeline = timeline
	return t, nil
}

func add(r *rand.Rand, result *results.OperationResult) {
	service := int64(5e6 * math.Exp(deviation*r.NormFloat64()))
	late := int64(1e5 * math.Exp(deviation*r.NormFloat64()))
	waited := int64(1e6 * math.Exp(deviation*r.NormFloat64()))
	result.Service.Record(service)
	result.Lateness.Record(late)
	result.Backlog.Record(waited)
	result.Net.Record(service + waited)
	result.Latency.Record(service + waited + late)
	result.CompletedInWindow++
}

func newFrame(all map[spec.Operation]*results.OperationResult) (frame, error) {
	f := frame{results: all, families: map[string]bool{}}
	empty := map[string]bool{}
	for _, mf := range wire.Served(&results.Snapshot{}) {
		empty[mf.GetName()] = true
	}
	encoded := slices.DeleteFunc(wire.Served(&results.Snapshot{Operations: all}),
		func(mf *dto.MetricFamily) bool { return empty[mf.GetName()] })
	for _, mf := range encoded {
		f.families[mf.GetName()] = true
	}
	var body bytes.Buffer
	if err := encode(&body, encoded); err != nil {
		return f, err
	}
	f.body = body.Bytes()
	return f, nil
}

func clone(from *results.OperationResult) *results.OperationResult {
	out := *from
	for i, h := range out.Histograms() {
		*h = from.Histograms()[i].Clone()
	}
	return &out
}

func encode(out io.Writer, all []*dto.MetricFamily) error {
	for _, mf := range all {
		if _, err := protodelim.MarshalTo(out, mf); err != nil {
			return err
		}
	}
	return nil
}

// scrape encodes what a pod serves: its own part, and the frame's part if it has sent requests.
func scrape(s *results.Snapshot, f *frame) ([]byte, error) {
	own := wire.Served(s)
	if f != nil {
		own = slices.DeleteFunc(own, func(mf *dto.MetricFamily) bool { return f.families[mf.GetName()] })
	}
	var body bytes.Buffer
	if err := encode(&body, own); err != nil {
		return nil, err
	}
	if f != nil {
		body.Write(f.body)
	}
	return body.Bytes(), nil
}
