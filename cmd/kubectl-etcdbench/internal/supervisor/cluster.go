package supervisor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// portAttempts is the number of starts. A start fails if another process takes one of the free ports first.
	portAttempts = 3
	// defaultStartLimit is more than members on a slow disk need.
	defaultStartLimit = time.Minute
)

// Config says which members to start.
type Config struct {
	Members int
	// Store is their store; empty is etcd.
	Store spec.Datastore
	// Program is its executable; empty is this program, which has an etcd.
	Program string
	// DataDir is the folder in which the members get a new one.
	DataDir string
	// Settings are the settings of the store by name.
	Settings map[string]string
	// StartLimit is how long they may take until all serve; 0 is a minute.
	StartLimit time.Duration
}

// Cluster are members that serve.
type Cluster struct {
	// Endpoints are their client addresses.
	Endpoints []string

	// dir has the data of the members.
	dir string

	store      ephemeral.Store
	supervisor *exec.Cmd
	// hold is the pipe that keeps the members.
	hold io.Closer
	// errors is what the supervisor says last.
	errors tail
	// read is closed when the supervisor has told everything.
	read  chan struct{}
	mutex sync.Mutex
	pids  []int
	ended []Ended
	// heard is what members have written to their logs since from; nil before Listen.
	from  time.Time
	heard map[logKey]*heard
}

// Start starts members on free loopback ports, with the default settings of their store, and waits until they serve.
func Start(ctx context.Context, c Config) (*Cluster, error) {
	store, ok := ephemeral.Of(c.Store)
	if !ok {
		return nil, fmt.Errorf("wanted a store whose members can be started, found %q", c.Store)
	}
	for attempt := 1; ; attempt++ {
		cluster, err := start(ctx, store, c)
		if err == nil {
			return cluster, nil
		}
		if attempt == portAttempts || ctx.Err() != nil || !isPortTaken(err) {
			return nil, fmt.Errorf("starting %s: %w", text.Plural(c.Members, store.Name+" member"), err)
		}
	}
}

// isPortTaken knows the words of Unix and of Windows.
func isPortTaken(err error) bool {
	return strings.Contains(err.Error(), "address already in use") || strings.Contains(err.Error(), "Only one usage of each socket address")
}

func start(ctx context.Context, store ephemeral.Store, config Config) (*Cluster, error) {
	c := &Cluster{store: store, dir: filepath.Join(config.DataDir, "etcdbench-members-"+rand.String(10)), read: make(chan struct{})}
	o, err := c.order(config)
	if err != nil {
		return nil, err
	}
	starting, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if err := c.supervise(o, fail); err != nil {
		return nil, err
	}
	limit := cmp.Or(config.StartLimit, defaultStartLimit)
	late, err := c.awaitReady(starting, limit)
	if err == nil {
		return c, nil
	}
	closed := c.Close()
	// Close ends all members. The first one that had ended before says why.
	switch ended := c.Ended(); {
	case ctx.Err() != nil || len(ended) == 0:
	case errors.Is(err, errLate):
		words := "its log is not known"
		if i := slices.IndexFunc(ended, func(e Ended) bool { return e.Member == late }); i >= 0 {
			words = ended[i].log()
		}
		err = fmt.Errorf("%s ran, but did not serve on %s within %s; %s", NameOf(late), c.Endpoints[late], text.Duration(limit), words)
	default:
		err = fmt.Errorf("%w: %s %s", err, NameOf(ended[0].Member), ended[0])
	}
	return nil, errors.Join(err, closed)
}

// order chooses the addresses of the members.
func (c *Cluster) order(config Config) (o order, err error) {
	o = order{Dir: c.dir, Program: config.Program, Store: config.Store}
	var first []string
	if o.Program == "" {
		if o.Program, err = os.Executable(); err != nil {
			return o, err
		}
		first = []string{asMember}
	}
	const portsOfEach = 3
	addresses, err := freeport.Addresses(portsOfEach * config.Members)
	if err != nil {
		return o, err
	}
	c.Endpoints = addresses[:config.Members]
	// Consul gossips over UDP.
	freeport.LeaveUDP(addresses[2*config.Members:]...)
	members := make([]ephemeral.Member, config.Members)
	for i := range members {
		host, client, _ := net.SplitHostPort(addresses[i])
		_, peer, _ := net.SplitHostPort(addresses[config.Members+i])
		_, mesh, _ := net.SplitHostPort(addresses[2*config.Members+i])
		dir := filepath.Join(c.dir, NameOf(i))
		members[i] = ephemeral.Member{
			Index: strconv.Itoa(i), Name: NameOf(i), Listen: host, Host: host,
			Ports: ephemeral.Ports{Client: client, Peer: peer, Mesh: mesh}, DataDir: dir, ConfigDir: dir,
		}
	}
	for _, m := range members {
		p := c.store.Start(m, members, filepath.Base(c.dir), config.Settings)
		p.Args = slices.Concat(first, p.Args)
		o.Members = append(o.Members, p)
	}
	return o, nil
}

// NameOf is the name of a member.
func NameOf(member int) string { return fmt.Sprintf("member-%d", member) }

// supervise starts the supervisor and gives it an order. It calls fail when a member cannot be started or ends.
func (c *Cluster) supervise(o order, fail context.CancelCauseFunc) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.supervisor = exec.Command(self, asSupervisor)
	c.supervisor.SysProcAttr, c.supervisor.Stderr = ofSupervisor(), &c.errors
	in, err := c.supervisor.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.supervisor.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.supervisor.Start(); err != nil {
		return err
	}
	c.hold = in
	go func() {
		defer close(c.read)
		c.listen(json.NewDecoder(out), fail)
	}()
	return json.NewEncoder(in).Encode(o)
}

// listen reads events until the supervisor ends.
func (c *Cluster) listen(events *json.Decoder, fail context.CancelCauseFunc) {
	for {
		var e event
		if err := events.Decode(&e); err != nil {
			fail(errors.New("the process that keeps the members has ended"))
			return
		}
		switch {
		case e.Failed != "":
			fail(errors.New(e.Failed))
		case e.Ended != nil:
			c.mutex.Lock()
			c.ended = append(c.ended, *e.Ended)
			c.mutex.Unlock()
			fail(errors.New("a member does not run"))
		case e.Said != nil:
			c.mutex.Lock()
			c.hear(e.Said)
			c.mutex.Unlock()
		default:
			c.mutex.Lock()
			c.pids = e.Started
			c.mutex.Unlock()
		}
	}
}

// String is what happened to the member, with its own words.
func (e Ended) String() string {
	return text.Printable(fmt.Sprintf("ended (%s; %s)", e.How, e.log()))
}

func (e Ended) log() string {
	if e.Words == "" {
		return "its log is empty"
	}
	return text.Printable("its log ends with: " + e.Words)
}

// PIDs are the processes of the members.
func (c *Cluster) PIDs() []int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.pids)
}

// Ended are the members that have ended, the first one first.
func (c *Cluster) Ended() []Ended {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.ended)
}

// Close ends the members and removes their data.
func (c *Cluster) Close() error {
	_ = c.hold.Close()
	<-c.read
	err := c.supervisor.Wait()
	if err != nil {
		err = fmt.Errorf("the process that keeps the members (%w): %s", err, cmp.Or(c.errors.words(), "its log is empty"))
	}
	if c.pids == nil {
		// The folder may be that of another process.
		return err
	}
	// Nothing is left to remove, unless the supervisor was killed.
	return errors.Join(err, os.RemoveAll(c.dir))
}
