package etcd

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	metricServerID = "etcd_server_id"
	// These replace a part of a member's status that the user may not read.
	metricDatabase  = "etcd_mvcc_db_total_size_in_bytes"
	metricQuota     = "etcd_server_quota_backend_bytes"
	metricIsLeader  = "etcd_server_is_leader"
	metricHasLeader = "etcd_server_has_leader"
	metricMaxFiles  = "process_max_fds"
	// etcd serves this with --metrics=extensive.
	metricHandling  = "grpc_server_handling_seconds"
	metricRoundTrip = "etcd_network_peer_round_trip_time_seconds"
	// metricCompaction is the only wanted metric in milliseconds.
	metricCompaction = "etcd_debugging_mvcc_db_compaction_total_duration_milliseconds"
)

// metrics reads those of a member.
var metrics = exposition.New(table())

// table names the metrics that a run reads.
func table() exposition.Table {
	return exposition.Table{
		// The counters are etcd's own, from 3.4 on. etcd declares some of them as gauges.
		Counters: map[string]results.Figure{
			"etcd_server_leader_changes_seen_total":         results.FigureLeaderChanges,
			"etcd_server_slow_apply_total":                  results.FigureSlowApplies,
			"etcd_server_slow_read_indexes_total":           results.FigureSlowReadIndexes,
			"etcd_server_proposals_failed_total":            results.FigureFailedProposals,
			"etcd_server_proposals_applied_total":           results.FigureAppliedProposals,
			"etcd_network_client_grpc_received_bytes_total": results.FigureClientReceivedBytes,
			"etcd_network_client_grpc_sent_bytes_total":     results.FigureClientSentBytes,
			"etcd_network_peer_received_bytes_total":        results.FigurePeerReceivedBytes,
			"etcd_network_peer_sent_bytes_total":            results.FigurePeerSentBytes,
		},
		Gauges: map[string]members.Gauge{
			metricDatabase:                  members.GaugeDatabaseBytes,
			"etcd_server_proposals_pending": members.GaugePendingProposals,
		},
		Timers: map[string]exposition.Timer{
			"etcd_disk_wal_fsync_duration_seconds":      {Is: results.TimerWALFsync},
			"etcd_disk_backend_commit_duration_seconds": {Is: results.TimerBackendCommit},
			metricRoundTrip:                             {Is: results.TimerPeerRoundTrip},
			"etcd_server_apply_duration_seconds":        {Is: results.TimerApply},
			metricHandling:                              {Is: results.TimerHandling, Counts: isWrite},
			"etcd_disk_backend_defrag_duration_seconds": {Is: results.TimerDefragment},
			metricCompaction:                            {Is: results.TimerCompact, Milliseconds: true},
		},
		Others: []string{metricServerID, metricQuota, metricIsLeader, metricHasLeader, metricMaxFiles},
	}
}

// writeMethods are the RPCs that TimerHandling includes.
var writeMethods = map[string]bool{"Put": true, "DeleteRange": true, "Txn": true, "LeaseGrant": true, "LeaseRevoke": true}

func isWrite(label func(name string) string) bool { return writeMethods[label("grpc_method")] }
