package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// journal is the durable record of what this cluster changed on the host. It is written before each change, so that
// down can undo one that was only half done.
type journal struct {
	dir string
	// Checkout owns the cluster.
	Checkout string `json:"checkout"`
	// BootID tells whether the host was restarted since: then processes, addresses and kernel settings are gone.
	BootID string `json:"bootID"`
	// Sysctls holds the values found before the first change, by path below /proc/sys.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// Created lists folders that did not exist before and that other programs create for the cluster.
	Created []string `json:"created,omitempty"`
	// Processes lists the process that started the cluster, and then the daemons in the order of their start.
	Processes []process `json:"processes,omitempty"`
}

const journalName = "journal.json"

// readJournal reads the journal in dir; it returns nil without an error when there is none.
func readJournal(dir string) (*journal, error) {
	file := filepath.Join(dir, journalName)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &journal{}
	if err := json.Unmarshal(content, j); err != nil {
		return nil, fmt.Errorf("%s is no journal of hack/cluster (%w): if no such cluster runs, remove %s", file, err, dir)
	}
	j.dir = dir
	return j, nil
}

// write replaces the file in one step.
func (j *journal) write() error {
	content, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(j.dir, journalName)
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// process returns the recorded daemon of that name.
func (j *journal) process(name string) (process, bool) {
	for _, p := range j.Processes {
		if p.Name == name {
			return p, true
		}
	}
	return process{}, false
}

// bootID identifies this boot of the host.
func bootID() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(content)), err
}

// claim makes checkout the owner of dir, which is the host's only one. Folder and journal appear in one step, so two
// checkouts can never both succeed and no folder is ever without an owner.
func claim(dir, checkout string) (*journal, error) {
	id, err := bootID()
	if err != nil {
		return nil, err
	}
	self, err := identify("cluster", os.Getpid())
	if err != nil {
		return nil, err
	}
	next, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-")
	if err != nil {
		return nil, err
	}
	j := &journal{dir: next, Checkout: checkout, BootID: id, Processes: []process{self}}
	err = errors.Join(os.Chmod(next, 0o711), j.write())
	if err == nil {
		err = os.Rename(next, dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("claiming %s: %w; another cluster may just be starting", dir, err), os.RemoveAll(next))
	}
	j.dir = dir
	return j, nil
}

// owned returns the journal in dir if checkout may manage the cluster that it describes, nil if there is none. Another
// checkout's cluster may be managed if that checkout no longer exists, or if nothing recorded of the cluster runs: its
// processes were killed, and no process is starting it.
func owned(dir, checkout string) (*journal, error) {
	j, err := readJournal(dir)
	if err != nil || j == nil || j.Checkout == checkout {
		return j, err
	}
	if _, err := os.Stat(j.Checkout); errors.Is(err, fs.ErrNotExist) || !slices.ContainsFunc(j.Processes, process.isAlive) {
		return j, nil
	}
	return nil, fmt.Errorf("the cluster of %s is up, and a host can run only one: `cd %s && go run ./hack/cluster down` ends it", j.Checkout, j.Checkout)
}
