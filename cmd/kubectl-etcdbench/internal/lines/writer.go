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

	before line
	err    error
}

// New returns a writer that leaves at least interval between two lines, unless
// the run's state or phase changes.
func New(out io.Writer, interval time.Duration) *Writer {
	return &Writer{out: out, interval: interval, now: time.Now}
}

// Show takes the newest state of the run and writes its line if one is due.
// After the line of the run's end, and after an error, it writes nothing more.
func (w *Writer) Show(run *v1alpha1.EtcdBenchmark) {
	l := lineOf(run, w.now())
	if w.err != nil || w.before.Final || !w.due(l) {
		return
	}
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
	return l.Final || l.State != w.before.State || l.Phase != w.before.Phase || l.Time.Sub(w.before.Time) >= w.interval
}

// Err is the first error of writing.
func (w *Writer) Err() error { return w.err }
