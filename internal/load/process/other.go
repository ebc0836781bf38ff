package process

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Other is another process, as the kernel counts for it. The zero value is none.
type Other struct {
	PID int
	// root is the root of the file system: "", except in tests.
	root string
}

// Find returns the process with this name that has the lowest ID; none if there is none.
func Find(name string) Other { return find("", name) }

func find(root, name string) Other {
	found, _ := filepath.Glob(filepath.Join(root, "/proc", "[0-9]*", "comm"))
	least := Other{root: root}
	for _, file := range found {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		text, unread := os.ReadFile(file)
		if err == nil && unread == nil && strings.TrimSpace(string(text)) == name && (least.PID == 0 || pid < least.PID) {
			least.PID = pid
		}
	}
	return least
}

func (o Other) file(name string) string {
	return filepath.Join(o.root, "/proc", strconv.Itoa(o.PID), name)
}

// Periods are those of the control groups that the process runs in, by directory.
func (o Other) Periods() (map[string]Periods, error) {
	g, err := readGroup(cmp.Or(o.root, "/"), strconv.Itoa(o.PID))
	return g.periods, err
}

// tick is the kernel's unit of processor time in /proc, on every architecture.
const tick = 10 * time.Millisecond

// Now reads the processor time that the process has used, and its resident memory in bytes (proc_pid_stat(5)).
func (o Other) Now() (cpu time.Duration, resident int64, err error) {
	text, err := os.ReadFile(o.file("stat"))
	if err != nil {
		return 0, 0, err
	}
	// The name, in parentheses, can contain anything. The fields after it begin with the third.
	const user, system, pages = 14 - 3, 15 - 3, 24 - 3
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= pages {
		return 0, 0, fmt.Errorf("stat: wanted %d fields, found %d", pages, len(fields))
	}
	var numbers [3]int64
	for i, field := range []int{user, system, pages} {
		if numbers[i], err = strconv.ParseInt(fields[field], 10, 43); err != nil {
			return 0, 0, err
		}
	}
	return time.Duration(numbers[0]+numbers[1]) * tick, numbers[2] * int64(os.Getpagesize()), nil
}

// Storage reads how many bytes the process has read from storage and written to it (proc_pid_io(5)). Memory file systems are
// no storage. Only the same user may read this.
func (o Other) Storage() map[results.Figure]float64 {
	counters := map[results.Figure]float64{}
	text, err := os.ReadFile(o.file("io"))
	if err != nil {
		return counters
	}
	for figure, key := range map[results.Figure]string{results.FigureStorageReadBytes: "read_bytes:", results.FigureStorageWrittenBytes: "write_bytes:"} {
		if n, known := numberAfter(string(text), key); known {
			counters[figure] = float64(n)
		}
	}
	return counters
}

// Network reads how many bytes the network namespace of the process has received and sent, without its loopback.
func (o Other) Network() map[results.Figure]float64 {
	text, err := os.ReadFile(o.file("net/dev"))
	if err != nil {
		return nil
	}
	const received, sent = 0, 8
	counters := map[results.Figure]float64{results.FigurePodReceivedBytes: 0, results.FigurePodSentBytes: 0}
	for line := range strings.Lines(string(text)) {
		device, rest, found := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if !found || strings.TrimSpace(device) == "lo" || len(fields) <= sent {
			continue
		}
		for figure, field := range map[results.Figure]int{results.FigurePodReceivedBytes: received, results.FigurePodSentBytes: sent} {
			n, err := strconv.ParseUint(fields[field], 10, 64)
			if err != nil {
				return nil
			}
			counters[figure] += float64(n)
		}
	}
	return counters
}
