package screen

import (
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

const (
	// redraw is the interval at which a terminal's line is redrawn.
	redraw = 200 * time.Millisecond
	// spacing is the shortest time between two lines without a terminal.
	spacing = 2 * time.Second
	// heartbeat is the longest time between two lines without a terminal. It shows in a log that the command still
	// runs.
	heartbeat = 30 * time.Second
)

// clearLine moves a terminal's cursor to the first cell and empties the line.
const clearLine = "\r\x1b[K"

// state is the newest state of a run or a suite.
type state struct {
	name, text string
	// end is when the last run of a suite is expected to end. It is zero if that is not known.
	end time.Time
	// atMost: end is an upper bound.
	atMost bool
}

// Screen shows the progress of a run or a suite. On a terminal it redraws one line; otherwise it writes a line per change, and one
// per heartbeat. It is safe for concurrent use.
type Screen struct {
	out io.Writer
	// width returns the width of the terminal in cells; nil without a terminal.
	width func() int
	now   func() time.Time

	mu      sync.Mutex
	started time.Time
	// percent is the largest share of the run shown that was done. The bar never goes back.
	percent int32
	shown   types.UID
	// state is nil before the first one is shown.
	state *state
	// printed is the last line that was written without a terminal, at printedAt.
	printed   string
	printedAt time.Time

	stop chan struct{}
	done sync.WaitGroup
}

// New shows progress on out until Close. width returns the width of the terminal in cells; it is nil if out is no
// terminal.
func New(out io.Writer, width func() int) *Screen {
	s := newScreen(out, width, time.Now)
	s.done.Add(1)
	go s.keepDrawing()
	return s
}

func newScreen(out io.Writer, width func() int, now func() time.Time) *Screen {
	return &Screen{out: out, width: width, now: now, started: now(), stop: make(chan struct{})}
}

func (s *Screen) keepDrawing() {
	defer s.done.Done()
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.draw()
		}
	}
}

// Show sets and draws the newest state of the run.
func (s *Screen) Show(run *v1alpha1.EtcdBenchmark) {
	s.mu.Lock()
	if run.UID != s.shown {
		s.shown, s.percent = run.UID, 0
	}
	s.percent = max(s.percent, benchmark.Percent(run))
	percent := s.percent
	s.mu.Unlock()
	s.show(&state{name: run.Name, text: line(run, percent)})
}

// ShowSuite sets and draws the newest state of the suite.
func (s *Screen) ShowSuite(suite *v1alpha1.EtcdBenchmarkSuite) {
	s.show(suiteState(suite))
}

func (s *Screen) show(newest *state) {
	s.mu.Lock()
	s.state = newest
	s.mu.Unlock()
	s.draw()
}

// Notice writes a line that is not redrawn.
func (s *Screen) Notice(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(s.out, text)
}

// Close stops drawing and clears the terminal's line. Without a terminal, it writes the last state unless that was
// written.
func (s *Screen) Close() {
	close(s.stop)
	s.done.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	if text := s.text(); s.width == nil && text != s.printed {
		s.print(text)
	}
}

func (s *Screen) clear() {
	if s.width != nil {
		fmt.Fprint(s.out, clearLine)
	}
}

func (s *Screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, since := s.text(), s.now().Sub(s.printedAt)
	switch {
	case s.state == nil:
	case s.width != nil:
		fmt.Fprint(s.out, clearLine, cut(s.timed(text), s.width()-1))
	case text != s.printed && since >= spacing, since >= heartbeat:
		s.print(text)
	}
}

// text is the state in one line, without what changes with the time; empty before the first Show.
func (s *Screen) text() string {
	if s.state == nil {
		return ""
	}
	return s.state.text
}

// timed adds the time since the start and the name before a text, and the time that is left after it.
func (s *Screen) timed(text string) string {
	text = joined(clock(s.now().Sub(s.started)), s.state.name, text)
	if !s.state.end.IsZero() {
		text += Remaining(s.state.end.Sub(s.now()), s.state.atMost)
	}
	return text
}

func (s *Screen) print(text string) {
	s.printed, s.printedAt = text, s.now()
	fmt.Fprintln(s.out, s.timed(text))
}
