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

	// before is the line before, and newest that of the newest state, written or not.
	before, newest line
	// next is when a line is due unless something changes before.
	next time.Time
	err  error
}

// maxEarly is how much earlier than it is due a line may come, at most a quarter of
// the interval: states of the run come in intervals, too, and one that is a little
// early must not put the line off to the one after it.
const maxEarly = 250 * time.Millisecond

// New returns a writer that writes a line in each interval, and one whenever the
// run's state or phase changes.
func New(out io.Writer, interval time.Duration) *Writer {
	return &Writer{out: out, interval: interval, now: time.Now}
}

// Show takes the newest state of the run and writes its line if one is due.
// After the line of the run's end, and after an error, it writes nothing more.
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
		// One write for each line: a reader never sees half of one.
		_, err = w.out.Write(append(data, '\n'))
	}
	w.err = err
}

func (w *Writer) due(l line) bool {
	early := min(w.interval/4, maxEarly)
	return l.Final || w.changed(l) || !l.Time.Before(w.next.Add(-early))
}

func (w *Writer) changed(l line) bool {
	return l.State != w.before.State || l.Phase != w.before.Phase
}

// schedule keeps the pace: what is early or late does not move what follows,
// unless it is late by a whole interval.
func (w *Writer) schedule(l line) {
	w.next = w.next.Add(w.interval)
	if w.changed(l) || !w.next.After(l.Time) {
		w.next = l.Time.Add(w.interval)
	}
}

// Err is the first error of writing.
func (w *Writer) Err() error { return w.err }
