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

// schedule is what the kernel's scheduler counts of a thread.
type schedule struct {
	// ran is its time on a processor, waited the time for which it could run
	// and had none.
	ran, waited time.Duration
	// turns is how often it got a processor.
	turns uint64
}

// threads are those of this process, by number.
type threads map[string]schedule

// readThreads reads /proc/self/task/*/schedstat, of which the kernel's
// documentation (scheduler/sched-stats) tells.
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
			// It has just ended.
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
	_, err = fmt.Sscanf(text, "%d %d %d", &s.ran, &s.waited, &s.turns)
	if err != nil {
		return s, fmt.Errorf("schedstat: wanted three numbers, found %.64q", strings.TrimSpace(text))
	}
	return s, nil
}

// since adds up what the threads did after an earlier reading. What a thread
// did that has ended meanwhile is lost; Go's threads do not end.
func (t threads) since(earlier threads) (sum schedule) {
	for number, now := range t {
		before := earlier[number]
		if now.turns < before.turns {
			// The number belongs to another thread now.
			before = schedule{}
		}
		sum.ran += now.ran - before.ran
		sum.waited += now.waited - before.waited
		sum.turns += now.turns - before.turns
	}
	return sum
}

// meanDelay is how long a thread waited for each of its turns.
func (s schedule) meanDelay() time.Duration {
	if s.turns == 0 {
		return 0
	}
	return s.waited / time.Duration(s.turns)
}
