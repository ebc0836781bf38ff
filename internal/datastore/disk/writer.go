package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

const (
	// ownFolder begins the names of folders of this package.
	ownFolder = "etcdbench-disk-"
	// overhead is more than what the log adds to an entry.
	overhead = 128
	// neededBytes is the space of two logs, each with the file that wal allocates for later.
	neededBytes = 4 * 64_000_000
	// allocationLimit bounds the wait for wal to create that file.
	allocationLimit = 30 * time.Second
)

// writer appends entries to a log. Like etcd, it prepares the next file in the background, so that entries do not wait for it.
type writer struct {
	dir     string
	current *segment
	// next is set when the file is half full.
	next chan prepared
	// entry is used for all entries.
	entry raftpb.Entry
	index uint64
	// broken is the first error. etcd ends at it, and a log is not written after it.
	broken error
}

type prepared struct {
	segment *segment
	err     error
}

func newWriter(dir string) (*writer, error) {
	s, err := openSegment(dir)
	return &writer{dir: dir, current: s}, err
}

// append writes an entry and flushes it, unless an earlier one failed.
func (w *writer) append(data []byte) outcome {
	if w.broken != nil {
		now := load.Now()
		return outcome{sent: now, synced: now, err: w.broken, refused: true}
	}
	o := w.flush(data)
	w.broken = o.err
	return o
}

func (w *writer) flush(data []byte) (o outcome) {
	size := int64(len(data)) + overhead
	if o.err = w.makeRoom(size); o.err != nil {
		o.sent = load.Now()
		o.synced = o.sent
		return o
	}
	w.index++
	w.entry.Term, w.entry.Index, w.entry.Data = new(uint64(1)), &w.index, data
	o.sent = load.Now()
	o.err = w.current.log.Save(nil, []*raftpb.Entry{&w.entry})
	o.flushed = load.Now()
	if o.err == nil {
		o.err = fileutil.Fdatasync(w.current.file)
	}
	o.synced = load.Now()
	w.current.written += size
	if w.next == nil && w.current.written > wal.SegmentSizeBytes/2 {
		w.prepare()
	}
	return o
}

// prepare makes the next log in the background.
func (w *writer) prepare() {
	next := make(chan prepared, 1)
	w.next = next
	go func() {
		s, err := openSegment(w.dir)
		next <- prepared{s, err}
	}()
}

// makeRoom goes on to the next log if the current one has no room. wal must never reach the end of its file.
func (w *writer) makeRoom(size int64) error {
	if w.current.written+size < wal.SegmentSizeBytes {
		return nil
	}
	if w.next == nil {
		w.prepare()
	}
	next := <-w.next
	w.next = nil
	if next.err != nil {
		return next.err
	}
	go w.current.close()
	w.current, w.index = next.segment, 0
	return nil
}

func (w *writer) close() {
	w.current.close()
	if w.next != nil {
		if next := <-w.next; next.err == nil {
			next.segment.close()
		}
	}
}

// segment is a log with one file, which has no name any more.
type segment struct {
	log *wal.WAL
	// file is another descriptor of the file of the log: wal has none to lend.
	file *os.File
	// written is an upper bound.
	written int64
}

// openSegment makes a log in a folder of its own, and removes the names.
func openSegment(dir string) (s *segment, err error) {
	own, err := os.MkdirTemp(dir, ownFolder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	folder := filepath.Join(own, "wal")
	log, err := wal.Create(nil, folder, nil)
	if err != nil {
		return nil, fmt.Errorf("creating a log: %w", err)
	}
	log.SetUnsafeNoFsync()
	s = &segment{log: log}
	if s.file, err = openOnly(folder); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// openOnly opens the file of a log, once wal has also created the file that it prepares for later. That one must exist before
// its name is removed.
func openOnly(folder string) (*os.File, error) {
	for began := time.Now(); time.Since(began) < allocationLimit; time.Sleep(time.Millisecond) {
		later, err := filepath.Glob(filepath.Join(folder, "*.tmp"))
		files, werr := filepath.Glob(filepath.Join(folder, "*.wal"))
		if err = errors.Join(err, werr); err != nil {
			return nil, err
		}
		if len(later) == 1 && len(files) == 1 {
			return os.OpenFile(files[0], os.O_WRONLY, 0)
		}
	}
	return nil, fmt.Errorf("wal prepared no second file within %s", allocationLimit)
}

func (s *segment) close() {
	// Nothing is kept, so errors do not matter.
	_ = s.log.Close()
	_ = s.file.Close()
}
