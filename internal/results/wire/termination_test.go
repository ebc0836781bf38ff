package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// terminated encodes and decodes a snapshot as a termination message.
func terminated(t *testing.T, s *results.Snapshot) *results.Snapshot {
	t.Helper()
	message := TerminationMessage(s)
	if len(message) > MaxTerminationBytes {
		t.Fatalf("message has %d bytes", len(message))
	}
	got, err := DecodeTerminationMessage(message)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A busy pod of the sample run: 3 pods, 100,000 puts.
func TestBothFormsDecodeToTheSameSnapshot(t *testing.T) {
	for index := range 3 {
		want := finalSnapshot(index, 33_334, spec.OperationPut)
		want.Operations[spec.OperationPut].Examples.Add("Unavailable", "etcdserver: no leader")
		body, contentType := scrape(t, want, ScrapeAccept)
		scraped, err := Read(bytes.NewReader(body), contentType)
		if err != nil {
			t.Fatal(err)
		}
		message := terminated(t, want)
		scraped.Timeline = foldedLike(want.Timeline, message.Timeline)
		if diff := cmp.Diff(scraped, message, sameSnapshot...); diff != "" {
			t.Errorf("snapshot of pod %d (-scraped +terminated):\n%s", index, diff)
		}
	}
}

// foldedLike folds a timeline like a message that has room for those points.
func foldedLike(t, message results.Timeline) results.Timeline {
	if len(message.Points) == 0 {
		return results.Timeline{}
	}
	return t.Folded(len(message.Points), 0)
}

// The timeline gets the remaining room; the message of a busy pod has some.
func TestTerminationMessageHasATimelineWhereItCan(t *testing.T) {
	got := terminated(t, finalSnapshot(1, 30_000, spec.OperationPut))
	if n := len(got.Timeline.Points); n < 5 || n > 32 {
		t.Errorf("got %d points, wanted 5 to 32", n)
	}
}

func TestTerminationMessageKeepsFullResolutionWhereItCan(t *testing.T) {
	got := terminated(t, finalSnapshot(0, 300_000, spec.OperationPut)).Operations[spec.OperationPut]
	if got.Latency.Schema() != results.MaxSchema || got.Service.Schema() != results.MaxSchema {
		t.Errorf("latency and service time of 300,000 samples came at schema %d and %d, wanted %d",
			got.Latency.Schema(), got.Service.Schema(), results.MaxSchema)
	}
}

// The figures of three members are kept, because objectives use them. They take room only from the service time, which
// can be made coarser.
func TestTerminationMessageKeepsTheFiguresOfThreeMembers(t *testing.T) {
	want := finalSnapshot(0, 300_000, spec.OperationPut)
	withFigures(rand.New(rand.NewPCG(9, 9)), want.Target)
	got := terminated(t, want)
	if diff := cmp.Diff(want.Target, got.Target); diff != "" {
		t.Errorf("target changed on its way (-want +got):\n%s", diff)
	}
	put := got.Operations[spec.OperationPut]
	if put.Latency.Schema() != results.MaxSchema || put.Service.Schema() < 3 || len(got.Omitted) > 0 {
		t.Errorf("latency came at schema %d, service time at %d, without %q", put.Latency.Schema(), put.Service.Schema(), got.Omitted)
	}
}

// Members arrive without figures if there is no room for them, also if the target is added only after the histograms.
func TestTerminationMessageNamesFiguresThatDoNotFit(t *testing.T) {
	for members, n := range map[int]int{12: 300_000, 24: 10} {
		s := finalSnapshot(0, n, spec.OperationPut)
		s.Target = withFigures(rand.New(rand.NewPCG(9, 9)), randomTarget(rand.New(rand.NewPCG(9, 9)), members))
		got := terminated(t, s)
		if got.Target == nil || len(got.Target.Members) != members || hasFigures(got.Target) || !slices.Equal(got.Omitted, []string{omittedFigures}) {
			t.Errorf("got the target %+v without %q, wanted %d members without figures", got.Target, got.Omitted, members)
		}
	}
}

// A diagnosis that does not fit leaves the members in the message.
func TestTerminationMessageNamesADiagnosisThatDoesNotFit(t *testing.T) {
	for findings, want := range map[int][]string{1: nil, 60: {omittedDiagnosis}} {
		s := finalSnapshot(0, 10, spec.OperationPut)
		s.Target.Diagnosis = diagnosis(findings)
		for i, r := 0, rand.New(rand.NewPCG(9, 9)); i < findings; i++ {
			s.Target.Diagnosis.Findings[i].Message = fmt.Sprint(r.Uint64(), r.Uint64(), r.Uint64())
		}
		got := terminated(t, s)
		if got.Target == nil || len(got.Target.Members) == 0 || (got.Target.Diagnosis == nil) != (want != nil) || !slices.Equal(got.Omitted, want) {
			t.Errorf("%d findings: got %+v without %q", findings, got.Target, got.Omitted)
		}
	}
}

// Two operations of 300,000 samples do not fit completely: service time arrives at a lower resolution.
func TestTerminationMessageHalvesWhatDoesNotFit(t *testing.T) {
	got := terminated(t, finalSnapshot(0, 300_000, spec.OperationPut, spec.OperationRange))
	for operation, result := range got.Operations {
		if schema := result.Service.Schema(); result.Latency.Schema() != results.MaxSchema || schema == results.MaxSchema || schema < 2 {
			t.Errorf("%s came at schemas %d and %d", operation, result.Latency.Schema(), schema)
		}
	}
	if len(got.Omitted) > 0 {
		t.Errorf("omitted are %v", got.Omitted)
	}
}

// For any recording, counts, errors, minimum, maximum and sums arrive. Each histogram equals the recorded one at its
// resolution, or is named as omitted.
func TestTerminationMessageNeverExceedsItsBudget(t *testing.T) {
	tests := map[string]*results.Snapshot{
		"nothing":        {RunUID: "a"},
		"300,000":        finalSnapshot(0, 300_000, spec.OperationPut, spec.OperationRange),
		"widely spread":  spreadSnapshot(3, 1<<results.MaxSchema),
		"many members":   spreadSnapshot(maxMembers, 1),
		"every bucket":   spreadSnapshot(3, 100_000),
		"typical":        typicalSnapshot(),
		"random samples": randomSnapshot(3),
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			s.Omitted = nil
			got := terminated(t, s)
			want, err := Decode(withTimeline(s))
			if err != nil {
				t.Fatal(err)
			}
			for operation, result := range want.Operations {
				requireReduced(t, result, got.Operations[operation], got.Omitted)
			}
			if (got.Target == nil) != (s.Target == nil || slices.Contains(got.Omitted, results.OmittedTarget)) {
				t.Errorf("target is %+v, omitted %v", got.Target, got.Omitted)
			}
			want.Timeline = foldedLike(want.Timeline, got.Timeline)
			if !hasMarks(got) {
				want.Disturbances = withoutMarks(want.Disturbances)
			}
			got.Operations, got.Target, got.Omitted = want.Operations, want.Target, nil
			if diff := cmp.Diff(want, got, sameSnapshot...); diff != "" {
				t.Errorf("bookkeeping (-want +got):\n%s", diff)
			}
		})
	}
}

func hasMarks(s *results.Snapshot) bool {
	for _, d := range s.Disturbances {
		if len(d.Marks) > 0 {
			return true
		}
	}
	return false
}

// spreadSnapshot has samples in all buckets of all histograms.
func spreadSnapshot(members, samples int) *results.Snapshot {
	r := rand.New(rand.NewPCG(9, uint64(samples)))
	s := finalSnapshot(0, 0, spec.OperationPut, spec.OperationRange)
	s.Target = randomTarget(r, members)
	for _, result := range s.Operations {
		for _, h := range result.Histograms() {
			for range samples {
				h.Record(int64(math.Exp2(50 * r.Float64())))
			}
		}
		result.Errors["Unavailable"] = result.Failed.Count()
	}
	return s
}

func requireReduced(t *testing.T, want, got *results.OperationResult, omitted []string) {
	t.Helper()
	if diff := cmp.Diff(want.Errors, got.Errors, sameSnapshot...); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	for i, tier := range tiers {
		for j, h := range tier.histograms(want) {
			// A scrape with many histograms is decoded at a lower resolution.
			expected, arrived := h.Clone(), tier.histograms(got)[j].Clone()
			expected.Reduce(arrived.Schema())
			arrived.Reduce(expected.Schema())
			if slices.Contains(omitted, tier.name) {
				p := expected.Parts()
				p.First, p.Counts, p.Schema = 0, nil, arrived.Schema()
				expected = histogramOf(t, p)
			}
			if !expected.Equal(arrived) {
				t.Errorf("histogram %d of tier %d came at schema %d as another one, omitted are %v", j, i, arrived.Schema(), omitted)
			}
		}
	}
}

func TestLatencyComesBeforeTheRest(t *testing.T) {
	got := terminated(t, spreadSnapshot(3, 100_000))
	before := results.MaxSchema + 1
	for _, tier := range tiers {
		h := tier.histograms(got.Operations[spec.OperationPut])[0]
		schema := h.Schema()
		if !h.HasBuckets() {
			schema = withoutBuckets
		}
		if schema > before {
			t.Errorf("%s came at schema %d, what is more important at %d", tier.name, schema, before)
		}
		before = schema
	}
	if before == results.MaxSchema {
		t.Error("everything came at full resolution: the test shows nothing")
	}
}

func TestTerminationMessageOfHostileTextsFits(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	value := func() string {
		runes := make([]rune, text.MaxBytes)
		for i := range runes {
			runes[i] = rune(0x4e00 + r.IntN(0x5000))
		}
		return text.Printable(string(runes))
	}
	s := &results.Snapshot{
		RunUID: value(), Transport: spec.Transport(value()), Stage: results.StageDone,
		Failure:  &results.Failure{Reason: results.FailurePodFailed, Message: value()},
		Requests: map[spec.RPC]map[results.Phase]uint64{},
	}
	for range 16 {
		s.Omitted = append(s.Omitted, value())
	}
	got := terminated(t, s)
	want := &results.Snapshot{RunUID: s.RunUID, Transport: s.Transport, Stage: s.Stage, Failure: s.Failure, Omitted: got.Omitted}
	if diff := cmp.Diff(want, got, sameSnapshot...); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
	if !slices.Contains(got.Omitted, results.OmittedOperations) {
		t.Errorf("omitted are %v", got.Omitted)
	}
}

// kubectl describe shows why the pod failed, without another tool.
func TestTerminationMessageBeginsForPeople(t *testing.T) {
	s := finalSnapshot(0, 10, spec.OperationPut)
	s.Failure = &results.Failure{Reason: results.FailureSecretInvalid, Message: "Secret etcd-client-tls has no key tls.crt\nx" + strings.Repeat("é", 250)}
	line, _, _ := bytes.Cut(TerminationMessage(s), []byte("\n"))
	if want := "etcdbench: SecretInvalid: Secret etcd-client-tls has no key tls.crt"; !strings.HasPrefix(string(line), want) || len(line) > maxHeadline || !utf8.Valid(line) {
		t.Errorf("message begins with %q, wanted %q and whole characters", line, want)
	}
}

func TestDecodeTerminationMessageRefuses(t *testing.T) {
	whole := TerminationMessage(finalSnapshot(0, 1000, spec.OperationPut))
	mark := bytes.Index(whole, []byte(terminationMark)) + len(terminationMark)
	tests := map[string][]byte{
		"nothing":         nil,
		"something else":  []byte("panic: runtime error"),
		"only the mark":   whole[:mark],
		"only a header":   whole[:mark+8],
		"cut short":       whole[:len(whole)-1],
		"cut in half":     whole[:len(whole)/2],
		"another version": bytes.Replace(whole, []byte(terminationMark), []byte("etcdbench-result-1:"), 1),
		"not base64":      append(bytes.Clone(whole[:mark]), "!!!!"...),
		"something after": append(bytes.Clone(whole), "AAAA"...),
		"packed badly":    sealed([]byte("this is not deflated")),
		"no families":     sealed(newDeflater().deflate([]byte{9, 9, 9})),
		"no pod":          sealed(newDeflater().deflate(nil)),
	}
	for name, message := range tests {
		t.Run(name, func(t *testing.T) {
			if s, err := DecodeTerminationMessage(message); err == nil {
				t.Errorf("decoded %+v", s)
			}
		})
	}
	if _, err := DecodeTerminationMessage(append(bytes.Clone(whole), '\n')); err != nil {
		t.Errorf("refused for a line feed at its end: %v", err)
	}
}

// A deflater is used again: it must not remember an earlier text.
func TestADeflaterForgetsEarlierTexts(t *testing.T) {
	want, d := marshalNative(finalSnapshot(0, 33_334, spec.OperationPut)), newDeflater()
	first := d.deflate(want)
	second := d.deflate(want)
	if got, err := inflate(second); err != nil || !bytes.Equal(got, want) || !bytes.Equal(first, second) {
		t.Errorf("wanted the same %d bytes twice, found %d and %d, which inflate to %d of %d bytes: %v", len(first), len(first), len(second), len(got), len(want), err)
	}
}

func TestInflateStopsInTime(t *testing.T) {
	if _, err := inflate(newDeflater().deflate(make([]byte, maxInflated+1))); err == nil {
		t.Error("a message that unpacks to too much was taken")
	}
	if data, err := inflate(newDeflater().deflate(make([]byte, maxInflated))); err != nil || len(data) != maxInflated {
		t.Errorf("got %d bytes and the error %v, wanted %d", len(data), err, maxInflated)
	}
}

// sealed adds the right length and checksum.
func sealed(compressed []byte) []byte {
	header := binary.BigEndian.AppendUint32(nil, terminationChecksum(compressed))
	header = binary.BigEndian.AppendUint16(header, uint16(len(compressed)))
	return fmt.Appendf(nil, "%s%s", terminationMark, base64.RawStdEncoding.EncodeToString(append(header, compressed...)))
}

func TestEveryChangedByteIsNoticed(t *testing.T) {
	want := finalSnapshot(0, 100, spec.OperationPut)
	whole := TerminationMessage(want)
	first := bytes.Index(whole, []byte(terminationMark))
	for at := first; at < len(whole); at++ {
		changed := bytes.Clone(whole)
		if changed[at] = 'A'; whole[at] == 'A' {
			changed[at] = 'B'
		}
		if _, err := DecodeTerminationMessage(changed); err == nil {
			// Base64 has bits at its end that mean nothing.
			if at < len(whole)-1 {
				t.Fatalf("byte %d was changed and the message was taken", at)
			}
		}
	}
}

// Only the mark distinguishes messages of two versions of the dictionary. If this test fails, change the number in
// terminationMark, then the checksum.
func TestDictionaryBelongsToTheVersion(t *testing.T) {
	const want = 0x5e9f7e78
	if got := crc32.ChecksumIEEE(terminationDictionary); got != want || terminationMark != "etcdbench-result-25:" {
		t.Errorf("dictionary of %s has the checksum %#x, wanted %#x", terminationMark, got, want)
	}
}
