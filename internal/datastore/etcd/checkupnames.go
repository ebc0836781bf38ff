package etcd

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
)

// nameAll gives the members their names, and lists the voters that no address leads to.
func (c *checkup) nameAll(ctx context.Context, found *doctor.Cluster) {
	for i, m := range found.Members {
		if m.Problem != "" || m.Restricted != "" && m.Restricted != unread {
			continue
		}
		list, err := c.list(ctx, c.plan.Target.Endpoints[i])
		if err != nil {
			found.ListUnread = err.Error()
			continue
		}
		found.ListUnread, c.names = "", map[uint64]string{}
		for _, listed := range list.Members {
			c.name(listed, found)
		}
		return
	}
}

func (c *checkup) list(ctx context.Context, endpoint string) (*clientv3.MemberListResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	client, err := c.viewer(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	return client.MemberList(ctx, clientv3.WithSerializable())
}

// name finds the member that a cluster lists: by its ID, or by the address at which it does not answer.
func (c *checkup) name(listed *etcdserverpb.Member, found *doctor.Cluster) {
	at := slices.Index(c.ids, listed.ID)
	if at < 0 {
		at = slices.IndexFunc(found.Members, func(m doctor.Member) bool {
			isItsOwn := func(url string) bool { return strings.HasSuffix(url, "://"+m.Endpoint) }
			return m.Problem != "" && slices.ContainsFunc(listed.ClientURLs, isItsOwn)
		})
	}
	c.names[listed.ID] = listed.Name
	switch {
	case at >= 0 && listed.Name != "":
		found.Members[at].Name = listed.Name
	case at < 0 && !listed.IsLearner:
		name := listed.Name
		if name == "" {
			name = hexID(listed.ID) + " (added, and never started)"
		}
		found.Unlisted = append(found.Unlisted, name)
	}
}

// nameOf is the name of the member with an ID in hexadecimal digits; the ID if the name is not known.
func (c *checkup) nameOf(id string) string {
	n, err := strconv.ParseUint(id, 16, 64)
	if err != nil {
		return id
	}
	return cmp.Or(c.names[n], id)
}

// memberAlarm is an alarm in the errors of a status.
var memberAlarm = regexp.MustCompile(`(?:memberID:\s*(\d+)\s+)?alarm:\s*([A-Z]+)`)

// alarmsIn returns the alarms in the errors of a status, with the members' names.
func (c *checkup) alarmsIn(errs []string) (all []doctor.Alarm) {
	for _, e := range errs {
		if found := memberAlarm.FindStringSubmatch(e); found != nil {
			alarm := doctor.Alarm{Kind: found[2]}
			if id, err := strconv.ParseUint(found[1], 10, 64); err == nil && id != 0 {
				alarm.Member = cmp.Or(c.names[id], hexID(id))
			}
			all = append(all, alarm)
		}
	}
	return all
}
