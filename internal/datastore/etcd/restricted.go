package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
)

// A user with rights on its own keys alone may not send every request. Status needs the role root in etcd 3.6.0 to 3.6.8 and
// in late patches of 3.5. What Status would say is then read elsewhere, or is not known.

// refusedRequest precedes the name of a request in the error of one that the user may not send.
const refusedRequest = "this user may not send the request "

// named adds the name of the request to the error of one that the user may not send: etcd's own error lacks it.
func named(method string, err error) error {
	if s, ok := status.FromError(err); ok && s.Code() == codes.PermissionDenied {
		return status.Error(codes.PermissionDenied, s.Message()+": "+refusedRequest+path.Base(method))
	}
	return err
}

// aRole is what the user of a run needs.
const aRole = "grant the user a role that may read and write under the run's prefix: etcdbench/, or spec.target.keyPrefix"

// refusalOf returns what is wrong with a request that the user may not send, and what to do.
func refusalOf(err error) string {
	_, request, found := strings.Cut(err.Error(), refusedRequest)
	switch {
	case !found:
		return "does not permit this user to read and write; " + aRole
	case request == "Range", request == "Put", request == "DeleteRange", request == "Txn":
		return "does not permit this user the request " + request + "; " + aRole
	case request == "LeaseLeases":
		return "does not permit this user to list leases; let the user read the keys that are attached to leases"
	}
	return "does not permit this user the request " + request + ", which needs the role root; use a user with that role"
}

// isRefused reports whether the user may not send a request.
func isRefused(err error) bool { return codeOf(err) == codes.PermissionDenied }

// unread is why a member's status is not known.
const unread = "this user may not send the request Status, which needs the role root in some versions of etcd"

// readHeader returns a member's status as far as any answer has it: the IDs and the term.
func (d *Driver) readHeader(ctx context.Context, endpoint string) (*etcdserverpb.StatusResponse, error) {
	client, err := d.viewer(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	found, err := get(ctx, client, d.run.Marker(), clientv3.WithSerializable(), clientv3.WithCountOnly())
	if err != nil {
		return nil, err
	}
	return &etcdserverpb.StatusResponse{Header: found.Header, RaftTerm: found.Header.RaftTerm, Version: d.version(ctx, endpoint)}, nil
}

// version returns the version that a member reports to everybody; empty if it serves only gRPC at its client address.
func (d *Driver) version(ctx context.Context, endpoint string) string {
	text, _, err := d.fetch(ctx, endpoint, "/version")
	var found struct {
		Server string `json:"etcdserver"`
	}
	if err != nil || json.Unmarshal(text, &found) != nil {
		return ""
	}
	return found.Server
}

// restrictedState is the state of a member whose status the user may not read.
func (d *Driver) restrictedState(ctx context.Context, m member) members.State {
	found, err := d.readHeader(ctx, m.endpoint)
	switch {
	case err != nil:
		return members.State{Problem: explain(err, m.endpoint).Error()}
	case found.Header.MemberId != m.id:
		return elsewhere(m)
	}
	state := stateIn(found)
	state.Leader, state.Unread = members.UnknownLeader, unread
	return state
}

// addRestricted adds a member whose status the user may not read. Its metrics, which etcd serves to everybody, say whether
// it leads, and how large its database may become.
func (d *Driver) addRestricted(ctx context.Context, t *topology, endpoint string) error {
	found, err := d.readHeader(ctx, endpoint)
	if err != nil {
		return explain(err, endpoint)
	}
	t.unread = true
	if e, _, problem := d.read(ctx, member{id: found.Header.MemberId, endpoint: endpoint}, t.members); problem == "" {
		of := func(name string) int64 { v, _ := e.Sum(name); return int64(v) }
		found.DbSize, found.DbSizeQuota = of(metricDatabase), of(metricQuota)
		if of(metricIsLeader) == 1 {
			found.Leader = found.Header.MemberId
		}
	}
	t.add(endpoint, (*clientv3.StatusResponse)(found))
	last := &t.members[len(t.members)-1]
	last.state.Leader, last.state.Unread = members.UnknownLeader, unread
	return nil
}

func (t *topology) notes() (notes []string) {
	if t.unread {
		leader := "the leader is not known"
		if t.leader != 0 {
			leader = "the leader is the one that the members' metrics named before the run"
		}
		notes = append(notes, fmt.Sprintf("%s: alarms and sizes of databases were not observed, and %s", unread, leader))
	}
	return notes
}
