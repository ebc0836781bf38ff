//go:build stores

package zookeeper

import (
	"context"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
)

func TestAnEnsembleWithoutAQuorumDoesNotAnswer(t *testing.T) {
	t.Parallel()
	all := zookeepertest.Start(t, 3)
	var endpoints []string
	for _, s := range all {
		endpoints = append(endpoints, s.Endpoint())
	}
	d := driverOf(t, planFor(endpoints), 0)
	answers := func(limit time.Duration) bool {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return d.Answers(ctx)
	}
	if !answers(20 * time.Second) {
		t.Error("no answer although all servers are up")
	}
	all[0].Kill()
	if !answers(20 * time.Second) {
		t.Error("no answer of the two servers that are up")
	}
	all[1].Kill()
	// A leader answers until it notices that its followers are gone.
	for end := time.Now().Add(time.Minute); answers(5 * time.Second); {
		if time.Now().After(end) {
			t.Fatal("answers without a quorum for a minute")
		}
	}
}
