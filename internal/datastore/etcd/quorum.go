package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// whyUnreachable returns an error if some addresses only do not answer, and the others have no leader. Then the lost
// majority is the cause, not the first member that is down. errs are the results of probing the plan's addresses.
func (d *Driver) whyUnreachable(ctx context.Context, errs []error) error {
	var answering []string
	down := false
	for i, err := range errs {
		switch {
		case err == nil:
			answering = append(answering, d.plan.Target.Endpoints[i])
		case !remote.IsUnreachable(err):
			return nil
		default:
			down = true
		}
	}
	if !down || len(answering) == 0 || !d.lacksLeader(ctx, answering) {
		return nil
	}
	return load.Errorf(results.FailureNoQuorum, "%d of %d addresses answer and report that they have no leader: a "+
		"majority of the members is down, or the members do not reach each other. The other addresses: %w",
		len(answering), len(errs), remote.Troubles(d.plan.Target.Endpoints, errs))
}

// lacksLeader repeats the check for longer than an election takes.
func (d *Driver) lacksLeader(ctx context.Context, endpoints []string) bool {
	err := repeat(ctx, func(ctx context.Context) error { return d.findLeader(ctx, endpoints) })
	return errors.Is(err, errNoLeader)
}

// findLeader returns errNoLeader if every address reports that there is none.
func (d *Driver) findLeader(ctx context.Context, endpoints []string) error {
	for _, endpoint := range endpoints {
		leads, err := d.knowsLeader(ctx, endpoint)
		if leads || err != nil {
			return err
		}
	}
	return errNoLeader
}

// knowsLeader asks without a user, because a login needs a quorum.
func (d *Driver) knowsLeader(ctx context.Context, endpoint string) (bool, error) {
	creds, err := d.secrets()
	if err != nil {
		return false, err
	}
	client, err := d.dialAs(ctx, &credentials{tls: creds.tls}, endpoint)
	if err != nil {
		return false, err
	}
	defer client.Close()
	status, err := client.Status(ctx, urls([]string{endpoint}, creds.tls != nil)[0])
	if err == nil {
		return status.Leader != 0, nil
	}
	if isRefused(err) || errors.Is(rpctypes.Error(err), rpctypes.ErrUserEmpty) {
		if has, known := d.hasLeader(ctx, endpoint); known {
			return has, nil
		}
	}
	return false, err
}

// hasLeader is what a member's metrics say, which etcd serves to everybody.
func (d *Driver) hasLeader(ctx context.Context, endpoint string) (has, known bool) {
	text, _, err := d.scrape(ctx, endpoint)
	if err != nil {
		return false, false
	}
	e, err := metrics.Parse(text)
	if err != nil {
		return false, false
	}
	leaders, known := e.Sum(metricHasLeader)
	return leaders > 0, known
}
