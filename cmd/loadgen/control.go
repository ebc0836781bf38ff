package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// readInterval is the interval at which the control files are read. The kubelet takes longer to write them, and a read
// costs microseconds.
const readInterval = 25 * time.Millisecond

// fileControl is load.Control over the files of a downward API volume.
type fileControl struct {
	dir string
	// startAt receives the start time when it is known.
	startAt            chan time.Time
	admitted           chan struct{}
	stopped, collected chan struct{}
	end                chan struct{}
	ended              sync.WaitGroup
}

var _ load.Control = (*fileControl)(nil)

// watchFiles reads the control files until close is called.
func watchFiles(dir string) *fileControl {
	c := &fileControl{
		dir: dir, startAt: make(chan time.Time, 1),
		admitted: make(chan struct{}), stopped: make(chan struct{}), collected: make(chan struct{}), end: make(chan struct{}),
	}
	c.ended.Go(c.watch)
	return c
}

// StartAt implements load.Control.
func (c *fileControl) StartAt(ctx context.Context) (time.Time, error) {
	select {
	case at := <-c.startAt:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// Admitted implements load.Control.
func (c *fileControl) Admitted(ctx context.Context) error {
	select {
	case <-c.admitted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stopped implements load.Control.
func (c *fileControl) Stopped() <-chan struct{} { return c.stopped }

func (c *fileControl) close() {
	close(c.end)
	c.ended.Wait()
}

// watch passes on the value of each file, once.
func (c *fileControl) watch() {
	tick := time.NewTicker(readInterval)
	defer tick.Stop()
	var started, admitted, stopped, collected bool
	for {
		if at, err := time.Parse(time.RFC3339Nano, c.read(plan.StartAtFile)); err == nil && !started {
			started = true
			c.startAt <- at
		}
		admitted = admitted || c.closeIfTrue(c.admitted, plan.AdmittedFile)
		stopped = stopped || c.closeIfTrue(c.stopped, plan.StopFile)
		collected = collected || c.closeIfTrue(c.collected, plan.CollectedFile)
		select {
		case <-c.end:
			return
		case <-tick.C:
		}
	}
}

// closeIfTrue closes a channel if its file is "true", and reports whether it did.
func (c *fileControl) closeIfTrue(ch chan struct{}, file string) bool {
	if c.read(file) != "true" {
		return false
	}
	close(ch)
	return true
}

// read returns the content of a file. It is empty if the file does not exist, which means that the annotation is not
// set.
func (c *fileControl) read(file string) string {
	data, err := os.ReadFile(filepath.Join(c.dir, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
