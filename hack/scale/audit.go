package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// requests are what the manager has sent to the API server in a span of time.
type requests struct {
	// Lists are all lists, FullLists those of runs.
	Lists, FullLists int
	// Writes are all writes, with events. ByKind counts them by verb and resource.
	Writes int
	ByKind map[string]int
	// StatusWrites are the times of the writes of each run's status, by namespace/name.
	StatusWrites map[string][]time.Time
}

// auditEvent is one line of the audit log.
type auditEvent struct {
	Verb      string `json:"verb"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	StageTimestamp time.Time `json:"stageTimestamp"`
}

// auditSize is where the log ends now.
func auditSize(file string) (int64, error) {
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// readAudit counts the requests in the log from an offset on.
func readAudit(file string, from int64) (requests, error) {
	counted := requests{ByKind: map[string]int{}, StatusWrites: map[string][]time.Time{}}
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return counted, nil
	}
	if err != nil {
		return counted, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return counted, err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e auditEvent
		// The last line may still be written.
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			counted.add(e)
		}
	}
	return counted, lines.Err()
}

func (r *requests) add(e auditEvent) {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	switch e.Verb {
	case "list":
		r.Lists++
		if resource == "etcdbenchmarks" {
			r.FullLists++
		}
	case "create", "update", "patch", "delete", "deletecollection":
		r.Writes++
	case "watch":
		return
	}
	r.ByKind[e.Verb+" "+resource]++
	if resource == "etcdbenchmarks/status" {
		key := strings.Join([]string{e.ObjectRef.Namespace, e.ObjectRef.Name}, "/")
		r.StatusWrites[key] = append(r.StatusWrites[key], e.StageTimestamp)
	}
}
