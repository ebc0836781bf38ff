// Command fastclient loads an etcd through the Fast transport and prints what
// it cost this process, for comparison with etcd's own benchmark.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var (
	endpoints = flag.String("endpoints", "127.0.0.1:2379", "host:port of the members, separated by commas")
	conns     = flag.Int("conns", 100, "connections")
	clients   = flag.Int("clients", 1000, "clients")
	total     = flag.Int64("total", 400000, "requests")
	put       = flag.Bool("put", false, "put instead of range")
	valueSize = flag.Int("val-size", 256, "bytes of a value")
	key       = flag.String("key", "foo", "key")
	blocking  = flag.Bool("blocking", false, "a goroutine for each client")
	loops     = flag.Int("loops", 0, "event loops")
	portable  = flag.Bool("portable", false, "the portable poller")
	rate      = flag.Int64("rate", 0, "requests per second of an open loop through the engine")
	engine    = flag.Bool("engine", false, "through the engine")
	profile   = flag.String("profile", "", "file for a CPU profile")
)

func main() {
	flag.Parse()
	client, err := fast.NewClient(fast.Config{Loops: *loops, Portable: *portable})
	check(err)
	if *profile != "" {
		f, err := os.Create(*profile)
		check(err)
		check(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	if *engine {
		session(client)
		return
	}
	opened := connect(client)
	var atFirst, atLast runtime.MemStats
	runtime.ReadMemStats(&atFirst)
	before, start := cpu(), time.Now()
	failed := run(opened)
	took, used := time.Since(start), cpu()-before
	runtime.ReadMemStats(&atLast)
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	fmt.Printf("requests %d failed %d rate %.0f/s cpu %.2f us/request rss %d MB allocations %.4f/request\n", *total, failed,
		float64(*total)/took.Seconds(), float64(used.Microseconds())/float64(*total), usage.Maxrss>>10,
		float64(atLast.Mallocs-atFirst.Mallocs)/float64(*total))
}

func connect(client *fast.Client) []load.LaneConn {
	addresses := strings.Split(*endpoints, ",")
	opened := make([]load.LaneConn, *conns)
	for i := range opened {
		c, err := client.Connect(context.Background(), addresses[i%len(addresses)], i)
		check(err)
		opened[i] = c
	}
	return opened
}

type caller struct {
	request  load.Request
	response load.Response
	lane     load.Lane
	left     *atomic.Int64
	failed   *atomic.Int64
	ended    *sync.WaitGroup
}

func (c *caller) next() {
	if c.left.Add(-1) < 0 {
		c.ended.Done()
		return
	}
	c.lane.Send(results.PhaseMeasured, &c.request, &c.response)
}

func (c *caller) done() {
	if !c.response.Succeeded() {
		c.failed.Add(1)
	}
	c.next()
}

func run(opened []load.LaneConn) int64 {
	var left, failed atomic.Int64
	var ended sync.WaitGroup
	left.Store(*total)
	for i := range *clients {
		c := &caller{left: &left, failed: &failed, ended: &ended}
		c.request = load.Request{Operation: results.OperationRange, Key: []byte(*key), Serializable: true, Timeout: 10 * time.Second}
		if *put {
			c.request.Operation, c.request.Value = results.OperationPut, make([]byte, *valueSize)
		}
		ended.Add(1)
		conn := opened[i%len(opened)]
		if *blocking {
			go c.loop(conn)
			continue
		}
		c.lane = conn.Lane(c.done)
		conn.Loop().Post(c.next)
	}
	ended.Wait()
	return failed.Load()
}

func (c *caller) loop(conn load.Conn) {
	defer c.ended.Done()
	ctx := load.WithPhase(context.Background(), results.PhaseMeasured)
	for c.left.Add(-1) >= 0 {
		conn.Do(ctx, &c.request, &c.response)
		if !c.response.Succeeded() {
			c.failed.Add(1)
		}
	}
}

func cpu() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
