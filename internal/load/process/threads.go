package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// schedule is what the kernel's scheduler counts for a thread.
type schedule struct {
	// ran is its time on a processor. waited is the time for which it could run and had no processor.
	ran, waited time.Duration
	// timeslices is how often it got a processor.
	timeslices uint64
}

// threads are the threads of this process, by ID.
type threads map[string]schedule

// readThreads reads /proc/self/task/*/schedstat. The kernel's documentation (scheduler/sched-stats) describes it.
func readThreads(root string) (threads, error) {
	dir := filepath.Join(root, "proc", "self", "task")
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := threads{}
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(dir, task.Name(), "schedstat"))
		if errors.Is(err, fs.ErrNotExist) && len(all) > 0 {
			// The thread has just ended.
			continue
		}
		if err != nil {
			return nil, err
		}
		if all[task.Name()], err = parseSchedule(string(text)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func parseSchedule(text string) (s schedule, err error) {
	_, err = fmt.Sscanf(text, "%d %d %d", &s.ran, &s.waited, &s.timeslices)
	if err != nil {
		return s, fmt.Errorf("schedstat: wanted three numbers, found %.64q", strings.TrimSpace(text))
	}
	return s, nil
}

// since adds up what the threads did after an earlier reading. A thread that has ended meanwhile is not counted; Go's
// threads do not end.
func (t threads) since(earlier threads) (sum schedule) {
	for number, now := range t {
		before := earlier[number]
		if now.timeslices < before.timeslices {
			// The ID now belongs to another thread.
			before = schedule{}
		}
		sum.ran += now.ran - before.ran
		sum.waited += now.waited - before.waited
		sum.timeslices += now.timeslices - before.timeslices
	}
	return sum
}
