package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const (
	ownUID    = "11111111-0000-4000-8000-000000000000"
	otherUID  = "22222222-0000-4000-8000-000000000000"
	ownPrefix = "etcdbench/11111111/"
)

// planFor is a small plan for a target. It applies the changes to the plan.
func planFor(endpoints []string, changes ...func(*plan.Plan)) plan.Plan {
	p := plan.Plan{
		Version: plan.Version, RunUID: ownUID, Name: "test/run", TimeoutSeconds: 120,
		Run: workload.Run{
			Prefix: ownPrefix,
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
				Keys:   spec.Keys{Count: 10_000, SizeBytes: 8, Distribution: spec.Sequential},
				Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64},
			}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 1, Connections: 3, Clients: 12, Requests: new(int64(2_500)), RequestTimeoutSeconds: 10, Seed: 1,
			},
		},
		Target: plan.Target{Datastore: spec.ZooKeeper, Endpoints: endpoints, Members: spec.MembersAll},
		Guard:  spec.Guard{StopOn: &spec.StopRules{}},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func TestAnUnknownOperationFails(t *testing.T) {
	var resp load.Response
	(&conn{}).Do(t.Context(), &load.Request{Operation: "Sing"}, &resp)
	if resp.Code != load.CodeUnimplemented {
		t.Errorf("wanted %s, found %+v", load.CodeUnimplemented, resp)
	}
}

// Each key has its own znode, in a folder that is created beforehand.
func TestKeysAreSpreadOverFolders(t *testing.T) {
	for name, tc := range map[string]struct {
		count, requests int64
		size            int32
		want            []string
	}{
		"fewer requests than keys": {10_000, 2_500, 8, []string{"/etcdbench/11111111/00000", "/etcdbench/11111111/00001", "/etcdbench/11111111/00002"}},
		"one folder":               {1_000, 1_000, 4, []string{"/etcdbench/11111111/0"}},
		"one key more":             {1_001, 1_001, 4, []string{"/etcdbench/11111111/0", "/etcdbench/11111111/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := planFor(nil, func(p *plan.Plan) {
				p.Workload.Put.Keys.Count, p.Workload.Put.Keys.SizeBytes, p.Load.Requests = tc.count, tc.size, &tc.requests
			})
			tree := treeOf(p.Run, p.RunUID)
			var folders []string
			for n := range tree.folders() {
				folders = append(folders, tree.folder(n))
			}
			if !slices.Equal(folders, tc.want) {
				t.Errorf("wanted the folders %v, found %v", tc.want, folders)
			}
			keys, seen := p.Run.KeyWriter(), map[string]bool{}
			for n := range tc.requests {
				path := tree.path(keys.AppendKey(nil, n))
				folder, leaf := path[:strings.LastIndexByte(path, '/')], path[strings.LastIndexByte(path, '/')+1:]
				if !slices.Contains(folders, folder) || !isNumber(leaf) || len(leaf) != leafDigits || seen[path] {
					t.Fatalf("key %d is %s, which is in no folder, no leaf, or another key's", n, path)
				}
				seen[path] = true
			}
		})
	}
}

func TestReadHealth(t *testing.T) {
	const serving = "Zookeeper version: %s\nLatency min/avg/max: 0/0.0/0\nZxid: %s\nMode: %s\nNode count: 5\n"
	for name, tc := range map[string]struct {
		answer string
		want   health
		err    error
	}{
		"a leader":     {answer: fmt.Sprintf(serving, "3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25", "0x3000000a1", "leader"), want: health{"3.8.0", true, 3}},
		"a follower":   {answer: fmt.Sprintf(serving, "3.9.4-7246445ec281f3dbf53dc54e970c914f39713903, built on 2025-08-19", "0x100000000", "follower"), want: health{"3.9.4", false, 1}},
		"alone":        {answer: fmt.Sprintf(serving, "3.5.9, built on 2021", "0x1f", "standalone"), want: health{"3.5.9", true, 0}},
		"no quorum":    {answer: "This ZooKeeper instance is not currently serving requests\n", err: errNotServing},
		"another":      {answer: "HTTP/1.1 400 Bad Request\r\n", err: errNotZooKeeper},
		"nothing":      {err: errNotZooKeeper},
		"a wrong Zxid": {answer: fmt.Sprintf(serving, "3.8.0", "many", "leader"), err: errors.New("Zxid")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readHealth(tc.answer)
			if got != tc.want || (err == nil) != (tc.err == nil) || tc.err != nil && !errors.Is(err, tc.err) && !strings.Contains(err.Error(), tc.err.Error()) {
				t.Errorf("wanted %+v, %v; found %+v, %v", tc.want, tc.err, got, err)
			}
		})
	}
}

func TestErrorsHaveTheNamesOfOtherStores(t *testing.T) {
	for want, errs := range map[string][]error{
		load.CodeUnavailable:      {zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved},
		load.CodeDeadlineExceeded: {context.DeadlineExceeded},
		load.CodeNotFound:         {zk.ErrNoNode},
		"AlreadyExists":           {zk.ErrNodeExists},
		"PermissionDenied":        {zk.ErrNoAuth},
		"ResourceExhausted":       {errors.New("unknown error: -125"), errors.New("unknown error: -127")},
		"Unauthenticated":         {zk.ErrAuthFailed, errors.New("unknown error: -124")},
		"Unknown":                 {zk.ErrBadVersion, errors.New("another")},
	} {
		for _, err := range errs {
			if got := codeOf(err); got != want {
				t.Errorf("%v: wanted %s, found %s", err, want, got)
			}
		}
	}
}

// A request that times out while its session has no connection has found the server unavailable.
func TestATimeoutWithoutAConnectionIsUnavailable(t *testing.T) {
	for code, lost := range map[string]time.Time{load.CodeDeadlineExceeded: {}, load.CodeUnavailable: time.Now().Add(-time.Second)} {
		var resp load.Response
		(&conn{session: &session{lost: lost}}).fail(context.DeadlineExceeded, &load.Request{}, &resp)
		if resp.Code != code || resp.Detail == "" {
			t.Errorf("lost at %v: wanted %s, found %+v", lost, code, resp)
		}
	}
}

// The ends of sessions, and transactions, that are larger than a server's jute.maxbuffer break an ensemble for good.
func TestWhatBreaksAnEnsembleStaysSmall(t *testing.T) {
	row, _ := spec.ZooKeeper.Store()
	longest := tree{root: "/" + strings.Repeat("p", 255), names: int(row.Contest.MaxNames)}
	own := len(longest.name(longest.names-1)+"/"+fmt.Sprintf("%06d-", 1_000_000)) + sequenceDigits
	if bytes := own * int(row.Contest.ClientsPerConnection); bytes >= 64<<10 {
		t.Errorf("the ephemeral znodes of a session have %d bytes", bytes)
	}
	if bytes := mostBytes; bytes >= 256<<10 || row.Keys.Txn.MaxBytes > 256<<10 {
		t.Errorf("a transaction may have %d bytes, or %d", bytes, row.Keys.Txn.MaxBytes)
	}
	keys, values := spec.Keys{SizeBytes: 8}, spec.Values{SizeBytes: 4_096}
	puts := 0
	for row.Keys.Txn.Accept(puts+1, keys, values) {
		puts++
	}
	put := zk.CreateRequest{Path: longest.root + "/00000/000", Data: make([]byte, values.SizeBytes), Acl: everybody}
	if bytes := puts * (len(put.Path) + len(put.Data) + 2*opBytes); puts == 0 || bytes >= 256<<10 {
		t.Errorf("%d puts have %d bytes", puts, bytes)
	}
}

// A list of contenders has a znode of each client, and fits into the buffers of the load and of the control session.
func TestAListOfContendersFitsIntoABuffer(t *testing.T) {
	row, _ := spec.ZooKeeper.Store()
	for _, size := range []struct{ names, each int32 }{{1, 1}, {2, 3_200}, {1, row.Contest.ClientsPerName}} {
		p := planFor(nil, func(p *plan.Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: size.names}}
			p.Load.Clients = size.names*size.each - size.names + 1
		})
		const head, stat = 16 + 4, 68
		list := head + stat + int(size.each)*(lengthBytes+len(fmt.Sprintf("%06d-", 999_999))+sequenceDigits)
		if room := New(p, 0).frameBytes(); list > room || room > controlFrame {
			t.Errorf("%d clients for a name: a list of %d bytes, buffers of %d", size.each, list, room)
		}
	}
}

// Impossible lengths of a broken server must not reach go-zookeeper's decoder, which trusts them.
func TestResponsesOfImpossibleLengthsEndTheConnection(t *testing.T) {
	frame := func(length uint32, body int) []byte {
		return append(binary.BigEndian.AppendUint32(nil, length), make([]byte, body)...)
	}
	for name, tc := range map[string]struct {
		read []byte
		want bool
	}{
		"one response":  {frame(20, 20), true},
		"two responses": {append(frame(16, 16), frame(100, 100)...), true},
		"the most":      {frame(1000, 1000), true},
		"half of one":   {frame(500, 20), true},
		"half a length": {[]byte{0, 0}, true},
		"too short":     {frame(15, 15), false},
		"empty":         {frame(0, 0), false},
		"too long":      {frame(1001, 0), false},
		"another's":     {[]byte("HTTP/1.1 400 Bad Request"), false},
		"below 0":       {frame(1<<31, 0), false},
		"short, second": {append(frame(16, 16), frame(3, 3)...), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range []int{len(tc.read), 1, 3} {
				c := socket{session: &session{room: 1000}}
				got := true
				for part := range slices.Chunk(tc.read, at) {
					got = got && c.follow(part)
				}
				if got != tc.want {
					t.Errorf("in parts of %d bytes: wanted %v, found %v", at, tc.want, got)
				}
			}
		})
	}
}
