package etcd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Preflight implements load.Driver.
func (d *Driver) Preflight(ctx context.Context) (*results.Target, error) {
	if err := d.probeAll(ctx); err != nil {
		return nil, err
	}
	client, err := d.controlClient(ctx)
	if err != nil {
		return nil, err
	}
	t, err := d.look(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := t.check(d.plan.Target.Members); err != nil {
		return nil, err
	}
	d.mutex.Lock()
	d.topology = t
	d.mutex.Unlock()
	return t.target(names(ctx, client)), nil
}

// probeAll returns the first address's trouble, in the plan's order.
func (d *Driver) probeAll(ctx context.Context) error {
	if _, err := d.secrets(); err != nil {
		return err
	}
	errs := make([]error, len(d.plan.Target.Endpoints))
	var probing sync.WaitGroup
	for i, endpoint := range d.plan.Target.Endpoints {
		probing.Go(func() { errs[i] = d.probe(ctx, endpoint) })
	}
	probing.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// look asks the member behind each address for its status.
func (d *Driver) look(ctx context.Context, client *clientv3.Client) (topology, error) {
	var t topology
	for _, endpoint := range d.plan.Target.Endpoints {
		status, err := d.status(ctx, client, endpoint)
		if err != nil {
			return topology{}, explain(err, endpoint)
		}
		t.add(endpoint, status)
	}
	return t, nil
}

func (d *Driver) status(ctx context.Context, client *clientv3.Client, endpoint string) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	return client.Status(ctx, urls([]string{endpoint}, creds.tls != nil)[0])
}

// names returns the members' names by ID. They are for people: without the
// right to list members there are none.
func names(ctx context.Context, client *clientv3.Client) map[uint64]string {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	list, err := client.MemberList(ctx)
	if err != nil {
		return nil
	}
	out := make(map[uint64]string, len(list.Members))
	for _, m := range list.Members {
		out[m.ID] = m.Name
	}
	return out
}

// hexID writes an ID as etcdctl does.
func hexID(id uint64) string { return strconv.FormatUint(id, 16) }

// unhealthy is the error of a target that answers and can not be used.
func unhealthy(format string, args ...any) error {
	return load.Errorf(results.FailureTargetUnhealthy, "%s", fmt.Sprintf(format, args...))
}

// alarmOf returns the alarm that keeps a member from working, from the errors
// in its status.
func alarmOf(errors []string) string {
	for _, e := range errors {
		for _, alarm := range []string{"NOSPACE", "CORRUPT"} {
			if strings.Contains(e, alarm) {
				return alarm
			}
		}
	}
	return ""
}
