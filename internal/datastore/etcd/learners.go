package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
)

// A learner is a member without a vote. It serves its status and serializable reads, and refuses all other requests,
// logins too. So neither load nor control requests go to learners.

// serving returns the addresses of the plan without those of learners. It looks for learners once: a learner that is
// promoted later gets nothing. An address that does not answer then is not left out, because its member may be needed.
func (d *Driver) serving(ctx context.Context) ([]string, error) {
	d.looking.Lock()
	defer d.looking.Unlock()
	all := d.plan.Target.Endpoints
	if d.learners == nil {
		refuses := make([]bool, len(all))
		remote.All(all, func(i int) error {
			refuses[i] = d.isLearner(ctx, all[i])
			return nil
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d.learners = []string{}
		for i, endpoint := range all {
			if refuses[i] {
				d.learners = append(d.learners, endpoint)
			}
		}
	}
	serving := slices.DeleteFunc(slices.Clone(all), func(e string) bool { return slices.Contains(d.learners, e) })
	if len(serving) == 0 {
		return nil, d.onlyLearners()
	}
	return serving, nil
}

// onlyLearners is the error of a target of which only learners can be reached.
func (d *Driver) onlyLearners() error {
	return unhealthy("no address of the target that answers leads to a voting member, only to learners (%s), which "+
		"refuse writes. Add the address of a voting member to spec.target.endpoints, or promote a learner (etcdctl "+
		"member promote)",
		strings.Join(d.learners, ", "))
}

// learnerLooks is how many connections in a row lead to a learner behind an address that is left out: a load balancer may
// lead the next one to another member.
const learnerLooks = 3

func (d *Driver) isLearner(ctx context.Context, endpoint string) bool {
	for range learnerLooks {
		if !d.leadsToLearner(ctx, endpoint) {
			return false
		}
	}
	return true
}

// leadsToLearner sends a request that learners refuse and voting members answer without asking others. It needs no user: a
// learner refuses before it checks the user.
func (d *Driver) leadsToLearner(ctx context.Context, endpoint string) bool {
	creds, err := d.secrets()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	client, err := clientv3.New(d.config(&credentials{tls: creds.tls}, nil, endpoint))
	if err != nil {
		return false
	}
	defer client.Close()
	// Unlike client.MemberList, this fails at once if nothing listens.
	_, err = etcdserverpb.NewClusterClient(client.ActiveConnection()).MemberList(ctx, &etcdserverpb.MemberListRequest{})
	return isOfLearner(err)
}

// isOfLearner reports whether a learner has refused a request. The code differs between versions of etcd.
func isOfLearner(err error) bool {
	return err != nil && strings.Contains(err.Error(), rpctypes.ErrorDesc(rpctypes.ErrGRPCNotSupportedForLearner))
}

// learnerNotes name the learners.
func (d *Driver) learnerNotes() (notes []string) {
	d.looking.Lock()
	defer d.looking.Unlock()
	for _, endpoint := range d.learners {
		notes = append(notes, fmt.Sprintf("%s leads to a learner, a member without a vote that refuses writes: it got no load", endpoint))
	}
	return notes
}
