package eventloop

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
)

// lineServer is a server of the line protocol.
type lineServer struct {
	// secure servers use TLS.
	secure bool
	// call handles a call on its own goroutine, and returns the response; "" is none. If call is nil, appendAnswer
	// makes the responses, in order.
	call func(words string) string

	address  string
	listener net.Listener
	begun    atomic.Int64

	mutex sync.Mutex
	conns map[*lineConn]struct{}
}

// lineConn is the server's end of a connection.
type lineConn struct {
	net.Conn
	server *lineServer
	// silent: it still accepts bytes and answers nothing, as if the server had lost its power behind a proxy that is
	// still up.
	silent  atomic.Bool
	writing sync.Mutex
	out     []byte
}

// serve runs a server until the test ends. "127.0.0.1:0" selects a free port.
func serve(t *testing.T, address string, s *lineServer) string {
	t.Helper()
	if err := s.listen(address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s.address
}

func (s *lineServer) listen(address string) (err error) {
	if s.listener, err = net.Listen("tcp", address); err != nil {
		return err
	}
	s.address, s.conns = s.listener.Addr().String(), map[*lineConn]struct{}{}
	go s.accept(s.listener)
	return nil
}

func (s *lineServer) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		if s.secure {
			conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{servertest.Certificate()}, NextProtos: []string{"lines"}})
		}
		c := &lineConn{Conn: conn, server: s}
		s.begun.Add(1)
		s.mutex.Lock()
		s.conns[c] = struct{}{}
		s.mutex.Unlock()
		go c.serve()
	}
}

// each calls f for all open connections.
func (s *lineServer) each(f func(*lineConn)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// stop closes the server and its connections.
func (s *lineServer) stop() {
	_ = s.listener.Close()
	s.each(func(c *lineConn) { _ = c.Close() })
}

// vanish silences the existing connections.
func (s *lineServer) vanish() { s.each(func(c *lineConn) { c.silent.Store(true) }) }

// goodbye closes the existing connections in an orderly way.
func (s *lineServer) goodbye() { s.each(func(c *lineConn) { c.say(goodbyeLine) }) }

func (c *lineConn) serve() {
	defer func() {
		_ = c.Close()
		c.server.mutex.Lock()
		defer c.server.mutex.Unlock()
		delete(c.server.conns, c)
	}()
	c.say(greetingLine)
	for reader := bufio.NewReader(c); ; {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		c.hear(line[:len(line)-1])
	}
}

func (c *lineConn) hear(line []byte) {
	number, words, _ := bytes.Cut(line, []byte(" "))
	switch {
	case string(line) == pingLine:
		c.say("#I am here")
	case c.server.call == nil:
		c.write(func(out []byte) []byte { return append(appendAnswer(append(append(out, number...), ' '), words), '\n') })
	default:
		go func() {
			if answer := c.server.call(string(words)); answer != "" {
				c.say(string(number) + " " + answer)
			}
		}()
	}
}

func (c *lineConn) say(line string) {
	c.write(func(out []byte) []byte { return append(append(out, line...), '\n') })
}

func (c *lineConn) write(appendLine func([]byte) []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.out = appendLine(c.out[:0])
	if !c.silent.Load() {
		_, _ = c.Write(c.out)
	}
}

// hang returns a call that answers nothing until released, and that reports each call.
func hang() (call func(words string) string, begun <-chan string, release func()) {
	began, over := make(chan string, 100), make(chan struct{})
	return func(words string) string {
		began <- words
		<-over
		return words
	}, began, sync.OnceFunc(func() { close(over) })
}

// inRounds is a server that answers this many calls together, the last one first.
func inRounds(t *testing.T, calls int) string {
	return servertest.Accept(t, func(c net.Conn) {
		_, err := io.WriteString(c, greetingLine+"\n")
		var numbers []uint64
		for reader := bufio.NewReader(c); err == nil; {
			var line []byte
			if line, err = reader.ReadBytes('\n'); err != nil {
				return
			}
			digits, words, _ := bytes.Cut(line, []byte(" "))
			number, _ := strconv.ParseUint(string(digits), 10, 64)
			if numbers = append(numbers, number); len(numbers) < calls {
				continue
			}
			var answers []byte
			for i := len(numbers) - 1; i >= 0; i-- {
				answers = append(append(strconv.AppendUint(answers, numbers[i], 10), ' '), words...)
			}
			numbers = numbers[:0]
			_, err = c.Write(answers)
		}
	})
}
