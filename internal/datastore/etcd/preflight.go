package etcd

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Preflight implements load.Driver.
func (d *Driver) Preflight(ctx context.Context) (*results.Target, members.View, error) {
	target, view, err := d.preflight(ctx)
	return target, view, settled(ctx, err, d.addresses())
}

func (d *Driver) preflight(ctx context.Context) (target *results.Target, view members.View, err error) {
	skipped, err := d.probeAll(ctx)
	if err != nil {
		return nil, view, err
	}
	client, err := d.controlClient(ctx)
	if err != nil {
		return nil, view, err
	}
	var t topology
	err = repeat(ctx, func(ctx context.Context) (err error) {
		if t, err = d.look(ctx, client); err != nil {
			return err
		}
		return t.check(d.plan.Target)
	})
	if err != nil {
		return nil, view, err
	}
	if err := d.guard(ctx, client, t); err != nil {
		return nil, view, err
	}
	if err := d.checkSupport(ctx); err != nil {
		return nil, view, err
	}
	if err := d.checkConnections(ctx, t); err != nil {
		return nil, view, err
	}
	d.mutex.Lock()
	d.topology = t
	d.mutex.Unlock()
	names, unlisted := d.names(ctx, client)
	target = t.target(names)
	target.Unlisted, target.Skipped = unlisted, skipped
	if d.index == 0 {
		target.Notes = slices.Sorted(slices.Values(append(t.notes(), d.learnerNotes()...)))
	}
	target.WriteEstimateBytes, _ = d.plan.WriteEstimate()
	return target, t.view(names), nil
}

// look reads the status of the member behind each address.
func (d *Driver) look(ctx context.Context, client *clientv3.Client) (topology, error) {
	creds, err := d.secrets()
	if err != nil {
		return topology{}, err
	}
	t := topology{seen: time.Now()}
	for _, endpoint := range d.loaded() {
		status, err := client.Status(ctx, urls([]string{endpoint}, creds.tls != nil)[0])
		switch {
		case isRefused(err):
			err = d.addRestricted(ctx, &t, endpoint)
		case err == nil:
			t.add(endpoint, status)
			d.addQuota(ctx, &t)
		}
		if err != nil {
			return topology{}, explain(err, endpoint)
		}
	}
	return t, nil
}

// addQuota adds the quota of the last member. Status has it from etcd 3.6 on; before that, only the metrics do. Client
// pod 0 reads them; the metrics are too large for a thousand pods.
func (d *Driver) addQuota(ctx context.Context, t *topology) {
	m := &t.members[len(t.members)-1]
	if m.quotaBytes != 0 || d.index != 0 || m.id == 0 {
		return
	}
	if e, _, problem := d.read(ctx, *m, t.members); problem == "" {
		quota, _ := e.Sum(metricQuota)
		m.quotaBytes = int64(quota)
	}
}

// names returns the names of the cluster's voting members by ID, or why they could not be listed. Only pod 0 reports
// them.
func (d *Driver) names(ctx context.Context, client *clientv3.Client) (names map[uint64]string, unlisted string) {
	if d.index != 0 {
		return nil, ""
	}
	var list *clientv3.MemberListResponse
	err := repeat(ctx, func(ctx context.Context) (err error) {
		list, err = client.MemberList(ctx)
		return err
	})
	if err != nil {
		return nil, text.Printable(explain(err, d.addresses()).Error())
	}
	names = make(map[uint64]string, len(list.Members))
	for _, m := range list.Members {
		if !m.IsLearner {
			names[m.ID] = m.Name
		}
	}
	return names, ""
}

// hexID writes an ID as etcdctl does.
func hexID(id uint64) string { return strconv.FormatUint(id, 16) }

// unhealthy is the error of a target that answers and cannot be used.
func unhealthy(format string, args ...any) error {
	return load.Errorf(results.FailureTargetUnhealthy, format, args...)
}

// alarmOf returns the alarm that stops the target from working, from the errors in a member's status. Each member
// reports the alarms of all members.
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
