package lines

import (
	"encoding/json"
	"io"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Writer writes the lines of one run. It is not for concurrent use.
type Writer struct {
	out      io.Writer
	interval time.Duration
	now      func() time.Time

	// before is the last line that was written, newest that of the newest state, written or not.
	before, newest line
	// next is the time at which the next line is due without a change of state.
	next time.Time
	err  error
}

// maxEarly is the time by which a line may be early, at most a quarter of the interval. States of the run come at
// intervals, too: a state that is a little early must not delay the line until the next state.
const maxEarly = 250 * time.Millisecond

// New returns a writer that writes a line per interval and per change of the run's state or stage.
func New(out io.Writer, interval time.Duration) *Writer {
	return &Writer{out: out, interval: interval, now: time.Now}
}

// Show writes a line for the newest state of the run if one is due. After the final line, or after an error, it writes
// nothing.
func (w *Writer) Show(run *v1alpha1.EtcdBenchmark) {
	l := lineOf(run, w.now())
	l.date(w.newest)
	w.newest = l
	if w.err != nil || w.before.Final || !w.due(l) {
		return
	}
	w.schedule(l)
	l.follow(w.before)
	w.before = l
	data, err := json.Marshal(l)
	if err == nil {
		// One write per line: a reader never sees a part of a line.
		_, err = w.out.Write(append(data, '\n'))
	}
	w.err = err
}

func (w *Writer) due(l line) bool {
	early := min(w.interval/4, maxEarly)
	return l.Final || w.changed(l) || !l.Time.Before(w.next.Add(-early))
}

func (w *Writer) changed(l line) bool {
	return l.State != w.before.State || l.Stage != w.before.Stage
}

// schedule sets the time of the next line. An early or late line does not shift the lines after it, unless it is late
// by a whole interval.
func (w *Writer) schedule(l line) {
	w.next = w.next.Add(w.interval)
	if w.changed(l) || !w.next.After(l.Time) {
		w.next = l.Time.Add(w.interval)
	}
}

// Err is the first write error.
func (w *Writer) Err() error { return w.err }
