package supervisor

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// gatherFor is how long the supervisor gathers lines before it tells the plugin: members must not wait for the plugin.
const gatherFor = 100 * time.Millisecond

// lines finds lines in a log, beside keeping its end.
type lines struct {
	tail
	rest []byte
	// each is called with each line.
	each func(line []byte)
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			break
		}
		l.each(line)
		l.rest = rest
	}
	if len(l.rest) > keptLog {
		l.rest = nil
	}
	return l.tail.Write(p)
}

// logKey identifies the lines of one kind of a member.
type logKey struct {
	member int
	kind   spec.LogKind
}

// gathered are lines that the plugin was not told yet.
type gathered struct {
	mutex   sync.Mutex
	waiting map[logKey]*said
	tell    func([]said)
}

func (g *gathered) add(key logKey, line Line) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if len(g.waiting) == 0 {
		g.waiting = map[logKey]*said{}
		time.AfterFunc(gatherFor, g.flush)
	}
	s := g.waiting[key]
	if s == nil {
		s = &said{Member: key.member, Kind: key.kind}
		g.waiting[key] = s
	}
	if len(s.Lines) >= v1alpha1.MaxLogLines {
		line.Text = ""
	}
	s.Lines = append(s.Lines, line)
}

func (g *gathered) flush() {
	g.mutex.Lock()
	all := g.waiting
	g.waiting = nil
	g.mutex.Unlock()
	var told []said
	for _, s := range all {
		told = append(told, *s)
	}
	g.tell(told)
}

// heard are the lines of one kind of a member since the start of the window.
type heard struct {
	lines []Line
	// more are the numbers of further lines, by the second of the window.
	more map[int64]int64
}

// add keeps a line that was written this long after the start of the window.
func (h *heard) add(l Line, after time.Duration) {
	if l.Text != "" && len(h.lines) < v1alpha1.MaxLogLines {
		h.lines = append(h.lines, l)
		return
	}
	h.more[int64(after/time.Second)]++
}

// Listen keeps what members write to their logs from a time on.
func (c *Cluster) Listen(from time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.from, c.heard = from, map[logKey]*heard{}
}

// hear keeps lines. The caller holds the mutex.
func (c *Cluster) hear(all []said) {
	if c.heard == nil {
		return
	}
	for _, s := range all {
		key := logKey{s.Member, s.Kind}
		for _, l := range s.Lines {
			after := l.At.Sub(c.from)
			if after < 0 {
				continue
			}
			if c.heard[key] == nil {
				c.heard[key] = &heard{more: map[int64]int64{}}
			}
			c.heard[key].add(l, after)
		}
	}
}

// Log returns what a member wrote to its log from the time of Listen until another one, by kind. If there are more lines than
// are kept, those of the whole last second count.
func (c *Cluster) Log(member int, until time.Time) (all []v1alpha1.MemberLog) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	byKind := func(a, b logKey) int { return bytes.Compare([]byte(a.kind), []byte(b.kind)) }
	for _, key := range slices.SortedFunc(maps.Keys(c.heard), byKind) {
		if key.member != member {
			continue
		}
		out := v1alpha1.MemberLog{Kind: key.kind}
		for second, n := range c.heard[key].more {
			if time.Duration(second)*time.Second < until.Sub(c.from) {
				out.Count += n
			}
		}
		for _, l := range c.heard[key].lines {
			if !l.At.After(until) {
				out.Count++
				out.Lines = append(out.Lines, v1alpha1.LogLine{AtMicroseconds: l.At.Sub(c.from).Microseconds(), Text: l.Text})
			}
		}
		if out.Count > 0 {
			all = append(all, out)
		}
	}
	return all
}
