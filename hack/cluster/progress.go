package main

import (
	"fmt"
	"io"
	"time"
)

// progress prints one line per finished step, with the time since the beginning.
type progress struct {
	out   io.Writer
	start time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, start: time.Now()} }

func (p *progress) say(format string, args ...any) {
	fmt.Fprintf(p.out, "cluster: [%5.1fs] %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...))
}
