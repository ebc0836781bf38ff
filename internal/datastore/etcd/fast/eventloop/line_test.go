package eventloop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The tests use a protocol of lines, with only the features that this package needs of a protocol. A client numbers its
// calls, and the responses come in any order:
//
//	server  #hello           the greeting
//	client  7 some words     a call
//	server  7 some words     its response, see appendAnswer
//	client  ?                a PING
//	server  #whatever        is ignored
//	server  #bye             the server answers the calls it has, and takes no more
//
// Call 0 asks for the server's name before other calls.
const (
	greetingLine = "#hello"
	goodbyeLine  = "#bye"
	pingLine     = "?"
	nameCall     = "name"
)

// appendAnswer appends a correct response to some words: the same words, their length in bytes, or many words.
func appendAnswer(dst, words []byte) []byte {
	switch {
	case bytes.HasPrefix(words, []byte("count ")):
		return strconv.AppendInt(dst, int64(len(words)), 10)
	case bytes.HasPrefix(words, []byte("large ")):
		return append(dst, largeAnswer...)
	}
	return append(dst, words...)
}

var largeAnswer = strings.Repeat("many words ", 5000)

// lineConfig configures a client of the line protocol.
type lineConfig struct {
	Config
	// name is the expected name of servers; "" asks for none. If the server answers "later", the client asks again.
	name string
	// last is the number of a link's last call; 0 is no limit.
	last uint64
}

// newLineClient returns a client that is closed with the test.
func newLineClient(t *testing.T, config lineConfig) *Client {
	t.Helper()
	config.Greeting = greetingLine
	config.Session = func(k *Link) Session { return &lines{link: k, name: config.name, last: config.last, next: 1} }
	config.Slot = func(c *Conn, done func()) Call { return newLineSlot(c, done) }
	c, err := NewClient(config.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// lines is the line protocol's session.
type lines struct {
	link *Link
	// name and last are those of lineConfig, and next is the number of the next call.
	name       string
	last, next uint64
	// out is the output, from written on. before is the length of the earlier output.
	out             []byte
	written, before int
	// open are the calls that were sent. waiting are those that wait for the greeting.
	open, waiting        []*lineSlot
	established, closing bool
	// question is the state of the request for the server's name; pause is the pause before the next.
	question question
	pause    time.Duration
	// pings is how many PINGs were sent.
	pings int
}

// question is the state of a request.
type question uint8

const (
	notAsked question = iota
	waits
	asked
)

var _ Session = (*lines)(nil)

// Receive implements Session.
func (s *lines) Receive(read []byte) (consumed int, err error) {
	for err == nil {
		n := bytes.IndexByte(read[consumed:], '\n')
		if n < 0 {
			break
		}
		err = s.act(read[consumed : consumed+n])
		consumed += n + 1
	}
	return consumed, err
}

func (s *lines) act(line []byte) error {
	switch {
	case !s.established:
		if string(line) != greetingLine {
			return fmt.Errorf("it begins with %q", line)
		}
		s.established = true
		s.begin()
	case string(line) == goodbyeLine:
		s.closing = true
	case !bytes.HasPrefix(line, []byte("#")):
		return s.answer(line)
	}
	return nil
}

// begin sends the calls that waited for the greeting.
func (s *lines) begin() {
	if s.question == waits {
		s.ask()
	}
	waiting := s.waiting
	s.waiting = nil
	for _, a := range waiting {
		s.start(a)
	}
}

func (s *lines) answer(line []byte) error {
	digits, words, ok := bytes.Cut(line, []byte(" "))
	number, err := strconv.ParseUint(string(digits), 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("%q is no answer", line)
	}
	if number == 0 {
		s.introduced(string(words))
		return nil
	}
	for i, a := range s.open {
		if a.number == number {
			s.open = slices.Delete(s.open, i, i+1)
			a.answered(words)
			return nil
		}
	}
	// The call was canceled.
	return nil
}

// start sends a call, or queues it.
func (s *lines) start(a *lineSlot) {
	if !s.established {
		s.waiting = append(s.waiting, a)
		return
	}
	a.number = s.next
	s.next++
	s.closing = s.closing || s.next-1 == s.last
	s.out = append(strconv.AppendUint(s.out, a.number, 10), ' ')
	s.out = append(append(append(s.out, a.request.Key...), a.request.Value...), '\n')
	a.end = s.before + len(s.out)
	s.open = append(s.open, a)
	a.Count(spec.RPCPut, a.phase)
}

// remove removes a call, and returns whether it was there.
func (s *lines) remove(a *lineSlot) bool {
	known := len(s.open) + len(s.waiting)
	isIt := func(b *lineSlot) bool { return a == b }
	s.open, s.waiting = slices.DeleteFunc(s.open, isIt), slices.DeleteFunc(s.waiting, isIt)
	return len(s.open)+len(s.waiting) < known
}

// Output implements Session.
func (s *lines) Output() []byte { return s.out[s.written:] }

// Wrote implements Session.
func (s *lines) Wrote(n int, at load.Instant) {
	s.written += n
	for _, a := range s.open {
		if a.end > s.before+s.written-n && a.end <= s.before+s.written {
			a.response.Sent = at
		}
	}
	if s.written == len(s.out) {
		s.before += s.written
		s.out, s.written = s.out[:0], 0
	}
}

// Established implements Session.
func (s *lines) Established() bool { return s.established }

// Introduce implements Session.
func (s *lines) Introduce() bool {
	if s.name == "" {
		return false
	}
	if s.question = waits; s.established {
		s.ask()
	}
	return true
}

func (s *lines) ask() {
	s.question = asked
	s.out = append(s.out, "0 "+nameCall+"\n"...)
	s.link.Count(spec.RPCRange, results.PhaseControl)
}

// introduced handles the response with the server's name.
func (s *lines) introduced(name string) {
	if s.question = notAsked; name == "later" {
		s.askLater()
		return
	}
	var err error
	if name != s.name {
		err = fmt.Errorf("%s is called %q, wanted %q", s.link.Address(), name, s.name)
	}
	s.link.Introduced(err)
}

func (s *lines) askLater() {
	s.pause = Longer(s.pause)
	s.link.Later(s.pause, func() {
		if s.link.Wanted() {
			s.ask()
			s.link.Touch()
			return
		}
		s.link.Introduced(errors.New("it has not said its name"))
	})
}

// Open implements Session.
func (s *lines) Open() bool { return !s.closing }

// NearlyUsedUp implements Session.
func (s *lines) NearlyUsedUp() bool { return s.last > 0 && s.next > s.last-s.last/32 }

// Drain implements Session.
func (s *lines) Drain() { s.closing = true }

// Idle implements Session.
func (s *lines) Idle() bool { return len(s.open) == 0 && len(s.waiting) == 0 }

// Ping implements Session.
func (s *lines) Ping() {
	s.pings++
	s.out = append(s.out, pingLine+"\n"...)
}

// TakeWaiting implements Session.
func (s *lines) TakeWaiting(why string) (calls []Call) {
	if s.question == waits {
		s.question = notAsked
		s.link.Introduced(errors.New(why))
	}
	for _, a := range s.waiting {
		calls = append(calls, a)
	}
	s.waiting = nil
	return calls
}

// Fail implements Session.
func (s *lines) Fail(why string) {
	s.closing = true
	if s.question == asked {
		s.question = notAsked
		s.link.Introduced(errors.New(why))
	}
	open := s.open
	s.open = nil
	for _, a := range open {
		a.over(load.CodeUnavailable, why)
	}
}

// lineSlot is the line protocol's slot. A call is its request's key and value.
type lineSlot struct {
	Slot
	done     func()
	session  *lines
	phase    results.Phase
	request  *load.Request
	response *load.Response
	number   uint64
	// end is the position of the end of its line in the session's whole output.
	end int
	// want is the expected response.
	words, want []byte
}

var _ Call = (*lineSlot)(nil)

func newLineSlot(c *Conn, done func()) *lineSlot {
	a := &lineSlot{done: done}
	a.Init(c, a)
	return a
}

// Send implements load.Slot.
func (a *lineSlot) Send(phase results.Phase, req *load.Request, resp *load.Response) {
	a.phase, a.request, a.response = phase, req, resp
	*resp = load.Response{Sent: a.Now()}
	a.Begin(req.Timeout)
}

// Start implements Call.
func (a *lineSlot) Start(k *Link) {
	a.session = k.Session().(*lines)
	a.session.start(a)
}

// Cancel implements Call.
func (a *lineSlot) Cancel(code, detail string) bool {
	there := a.session.remove(a)
	if there {
		a.over(code, detail)
	}
	return there
}

// Failed implements Call.
func (a *lineSlot) Failed(code, detail string) { a.over(code, detail) }

// wrongAnswer is the code of a call with a wrong response.
const wrongAnswer = "DataLoss"

func (a *lineSlot) answered(words []byte) {
	a.Link.Answered()
	a.words = append(append(a.words[:0], a.request.Key...), a.request.Value...)
	if a.want = appendAnswer(a.want[:0], a.words); !bytes.Equal(a.want, words) {
		a.over(wrongAnswer, fmt.Sprintf("%d bytes are not the answer to %d", len(words), len(a.words)))
		return
	}
	a.over("", "")
}

func (a *lineSlot) over(code, detail string) {
	a.response.Received = a.Now()
	a.response.Code, a.response.Detail = code, detail
	a.Finish()
	a.done()
}

// maxWait is how long a test waits for something that should happen soon.
const maxWait = 10 * time.Second

// say makes a call and waits until it has ended.
func say(ctx context.Context, conn load.Conn, words string) load.Response {
	return sayWithin(ctx, conn, words, maxWait)
}

func sayWithin(ctx context.Context, conn load.Conn, words string, timeout time.Duration) (response load.Response) {
	request := load.Request{Key: []byte(words), Timeout: timeout}
	conn.Do(load.WithPhase(ctx, results.PhaseMeasured), &request, &response)
	return response
}

func open(t *testing.T, c *Client, address string) *Conn {
	t.Helper()
	conn, err := c.Connect(t.Context(), address, 0)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// openOnAll opens one connection on each loop.
func openOnAll(t *testing.T, c *Client, address string) []*Conn {
	t.Helper()
	conns := make([]*Conn, c.Loops())
	for i := range conns {
		conn, err := c.Connect(t.Context(), address, i)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
	}
	return conns
}

// onLoop calls f on a connection's loop and waits until it returns.
func onLoop(conn *Conn, f func()) {
	done := make(chan struct{})
	conn.loop.Post(func() { f(); close(done) })
	<-done
}

// awaitLoss waits until a connection has no link.
func awaitLoss(conn *Conn) {
	for lost := false; !lost; {
		onLoop(conn, func() { lost = conn.current == nil })
	}
}

// configs are the variants of a connection.
var configs = map[string]Config{
	"epoll":        {},
	"epoll TLS":    {TLS: servertest.Trust("lines")},
	"portable":     {Portable: true},
	"portable TLS": {Portable: true, TLS: servertest.Trust("lines")},
	"two loops":    {Loops: 2, TLS: servertest.Trust("lines")},
}

// forAll runs a test with each variant.
func forAll(t *testing.T, test func(t *testing.T, config Config)) {
	for name, config := range configs {
		t.Run(name, func(t *testing.T) { test(t, config) })
	}
}
