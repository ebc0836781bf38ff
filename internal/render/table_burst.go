package render

import (
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// shape names the kind of load and explains it.
func (t *table) shape() string {
	b := t.run.Burst()
	switch {
	case b == nil:
		return loopText(t.run.Load)
	case b.Ramp > 0:
		return "a burst over " + text.Duration(b.Ramp) + " (each client is one process)"
	}
	return "a burst (each client is one process; all start together)"
}

// burst prints what the processes of a burst did, if the run had any.
func (t *table) burst() {
	s := t.b.Status.Summary
	b := s.Burst
	if b == nil {
		return
	}
	g := grid{left: 0}
	g.add("LAST PROCESS", "VALUES READ", "BODIES", "OVERHEAD", "RECEIVED", "SENT", "UNAVAILABLE", "SERVER MEMORY")
	g.add(durationOr(b.LastProcessMicroseconds), text.Megabytes(b.ValueBytes), megabytesOr(s.ResponseBytes), percentOr(b),
		megabytesOr(b.WireReceivedBytes), megabytesOr(b.WireSentBytes), text.Grouped(b.UnavailableProcesses), memoryOr(b))
	t.section(g.known())
	t.sentence("  ", "LAST PROCESS: from the start until the last process had everything. OVERHEAD: of the bodies over the values. RECEIVED and SENT: on the "+
		"connections, with all headers. UNAVAILABLE: processes that got no response because the connection, or the member, failed. SERVER MEMORY: by which members grew for each connection.")
	timeouts := grid{left: 1}
	header, processes := []string{"TIME-OUTS OF A PROCESS"}, []string{"PROCESSES"}
	for _, c := range b.Timeouts {
		header, processes = append(header, rangeText(c)), append(processes, text.Grouped(c.Processes))
	}
	timeouts.add(header...)
	timeouts.add(processes...)
	t.section(timeouts)
}

func rangeText(c v1alpha1.TimeoutCount) string {
	switch {
	case c.To == nil:
		return fmt.Sprintf("≥%d", c.From)
	case *c.To == c.From:
		return text.Grouped(c.From)
	}
	return fmt.Sprintf("%d–%d", c.From, *c.To)
}

func durationOr(micros int64) string {
	if micros == 0 {
		return unknown
	}
	return text.Duration(time.Duration(micros) * time.Microsecond)
}

func megabytesOr(bytes int64) string {
	if bytes == 0 {
		return unknown
	}
	return text.Megabytes(bytes)
}

func percentOr(b *v1alpha1.BurstSummary) string {
	if b.BodyOverheadPercent == "" {
		return unknown
	}
	return string(b.BodyOverheadPercent) + " %"
}

func memoryOr(b *v1alpha1.BurstSummary) string {
	if b.MemberBytesPerConnection == 0 {
		return unknown
	}
	return text.Bytes(float64(b.MemberBytesPerConnection))
}
