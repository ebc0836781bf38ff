package supervisor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/etcdmain"

	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
)

// The first arguments of a program that is the supervisor, or a member.
const (
	asSupervisor = "supervise-members"
	asMember     = "serve-member"
)

// Main is the whole program if the arguments say that this process is a supervisor or a member. Otherwise it returns.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case asSupervisor:
		if err := supervise(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	case asMember:
		etcdmain.Main(slices.Concat([]string{"etcd"}, os.Args[2:]))
		os.Exit(0)
	}
}

// supervision are the members of a supervisor.
type supervision struct {
	mutex   sync.Mutex
	out     *json.Encoder
	members sync.WaitGroup
	// owns: it has made the folder of the order.
	owns bool
}

// supervise starts the members of an order, and ends them when in closes.
func supervise(in io.Reader, out io.Writer) error {
	// A signal to all processes is for the plugin: it ends in order, and then this process ends. The channel is not read.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	// Linux ends the members when the thread that started them ends.
	runtime.LockOSThread()
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("reading which members to start: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	s := &supervision{out: json.NewEncoder(out)}
	if pids, err := s.start(ctx, o); err != nil {
		s.tell(event{Failed: err.Error()})
	} else {
		s.tell(event{Started: pids})
	}
	_, _ = io.Copy(io.Discard, in)
	end()
	s.members.Wait()
	if !s.owns {
		return nil
	}
	return os.RemoveAll(o.Dir)
}

// tell writes an event. A plugin that has ended reads none.
func (s *supervision) tell(e event) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_ = s.out.Encode(e)
}

func (s *supervision) start(ctx context.Context, o order) (pids []int, err error) {
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		return nil, err
	}
	s.owns = true
	store, _ := ephemeral.Of(o.Store)
	remarks := gathered{tell: func(all []said) { s.tell(event{Said: all}) }}
	for i, m := range o.Members {
		if err := write(m.Files); err != nil {
			return nil, err
		}
		log := &lines{each: func(line []byte) {
			if kind, says := store.Remark(line); kind != "" {
				remarks.add(logKey{i, kind}, Line{time.Now(), says})
			}
		}}
		cmd := exec.CommandContext(ctx, o.Program, m.Args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(environment(os.Environ()), m.Env...), log, log
		cmd.SysProcAttr = ofMember()
		cmd.Cancel = func() error { return kill(cmd.Process) }
		// A program that a member has started can hold its log open.
		cmd.WaitDelay = time.Second
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		pids = append(pids, cmd.Process.Pid)
		s.members.Go(func() {
			_ = cmd.Wait()
			_ = kill(cmd.Process)
			s.tell(event{Ended: &Ended{Member: i, How: cmd.ProcessState.String(), Words: log.words()}})
		})
	}
	return pids, nil
}

// write writes files, and makes their folders.
func write(files map[string]string) error {
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// variablesOfStores are how variables begin that the programs of stores take for settings.
var variablesOfStores = []string{"ETCD_", "CONSUL_", "ZOO", "ZK_", "JVMFLAGS", ephemeral.JVMFlagsVariable}

// environment omits these variables: they are meant for other servers.
func environment(all []string) []string {
	return slices.DeleteFunc(all, func(v string) bool {
		return slices.ContainsFunc(variablesOfStores, func(start string) bool { return strings.HasPrefix(strings.ToUpper(v), start) })
	})
}

// tail keeps the end of a log.
type tail struct {
	mutex sync.Mutex
	end   []byte
}

// keptLog is how much of a log is kept, in bytes.
const keptLog = 1 << 14

func (t *tail) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.end = append(t.end, p...)
	if n := len(t.end) - keptLog; n > 0 {
		t.end = slices.Delete(t.end, 0, n)
	}
	return len(p), nil
}

// words are the last lines that say why a process ends, else the last lines.
func (t *tail) words() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	const shown = 3
	var all []string
	var why [withCause + 1]string
	for line := range strings.Lines(string(t.end)) {
		said, weight := wordsOf(strings.TrimSpace(line))
		switch {
		case said == "":
			continue
		case said == "Usage:" && len(all) > 0:
			// The line before it says which flag is wrong.
			said, weight = all[len(all)-1], fatal
		}
		why[weight] = said
		all = append(all, said)
	}
	switch {
	case why[withCause] != "":
		return why[withCause]
	case why[fatal] != "" && why[failed] != "":
		return why[failed] + "; " + why[fatal]
	}
	return cmp.Or(why[fatal], why[failed], strings.Join(all[max(0, len(all)-shown):], "; "))
}

// What a line of a log says about the end of its process, from the least to the most. The trace of a panic follows the
// entry with its cause.
const (
	ordinary = iota
	failed
	fatal
	withCause
)

// severe are errors in the logs of Consul and ZooKeeper.
var severe = regexp.MustCompile(`\bERROR\b`)

// wordsOf is what a line of a log says.
func wordsOf(line string) (said string, weight int) {
	var entry struct{ Level, Msg, Error string }
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg == "" {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line, fatal
		}
		// The trace of a Java program ends with the first cause.
		if cause, ok := strings.CutPrefix(line, "Caused by: "); ok {
			return cause, withCause
		}
		if severe.MatchString(line) {
			return line, failed
		}
		return line, ordinary
	}
	ends := entry.Level == "fatal" || entry.Level == "panic"
	switch {
	case entry.Error == "" && ends:
		return entry.Msg, fatal
	case entry.Error == "":
		return entry.Msg, ordinary
	case ends:
		weight = withCause
	case entry.Level == "error":
		weight = failed
	}
	return entry.Msg + ": " + entry.Error, weight
}
