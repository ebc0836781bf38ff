package etcd

import (
	"context"
	"net/netip"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/disk"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
)

// Throttling reads what the control groups of the member at an address have counted; nil and the reason if that is not possible.
type Throttling func(ctx context.Context, endpoint string) (doctor.Groups, *doctor.Missing)

// OwnThrottling is that of members of this machine.
func OwnThrottling(_ context.Context, endpoint string) (doctor.Groups, *doctor.Missing) {
	at, err := netip.ParseAddrPort(strings.Replace(endpoint, "localhost:", "127.0.0.1:", 1))
	if err != nil || !at.Addr().IsLoopback() {
		return nil, &doctor.Missing{Why: "CPU throttling shows only on the machine of a member, or to its cluster", Needs: "its address as 127.0.0.1, there, or pod/NAME"}
	}
	p, err := process.Listener(at)
	if err != nil {
		return nil, &doctor.Missing{Why: err.Error(), Needs: "root on the machine of the member"}
	}
	if !disk.IsEtcd(p.PID) {
		return nil, &doctor.Missing{Why: "the process that listens there is no etcd", Needs: "the address of the member itself"}
	}
	groups, err := p.Periods()
	if err != nil {
		return nil, &doctor.Missing{Why: err.Error(), Needs: "the control group of the member"}
	}
	found := doctor.Groups{}
	for name, g := range groups {
		found[name] = doctor.Periods{All: float64(g.All), Throttled: float64(g.Throttled)}
	}
	return found, nil
}

// throttle completes a member with its throttling since an earlier look.
func (c *checkup) throttle(ctx context.Context, before doctor.Groups, m *doctor.Member) {
	if m.ThrottlingUnread != nil {
		return
	}
	now, unread := c.throttling(ctx, m.Endpoint)
	p := now.Since(before)
	switch {
	case unread != nil:
		m.ThrottlingUnread = unread
	case p.All == 0 && now.Counted():
		// A kubelet samples a container every 10 to 20 s.
		m.ThrottlingUnread = &doctor.Missing{Why: "no period of its CPU quota was counted between the looks", Needs: "a longer window"}
	default:
		m.Throttling = &p
	}
}
