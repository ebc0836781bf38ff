package zookeeper

import (
	"context"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Serves reports whether a server serves requests in plain text, and so knows a leader.
func Serves(ctx context.Context, endpoint string) bool {
	_, err := New(plan.Plan{}, 0).healthOf(ctx, endpoint)
	return err == nil
}
