package plan

// SessionTTLSeconds is the time to live of a client's lease, as long as that of
// clientv3's sessions where nobody says otherwise: so long a lock stays whose
// client was killed.
const SessionTTLSeconds = 60

// UsesSessions says whether each client has a session: a lease that it keeps
// alive, and that its locks are attached to.
func (p Plan) UsesSessions() bool {
	return p.Workload.isContest() || p.Workload.STM != nil && p.Workload.STM.Locks()
}

// LockPrefix lies before the names of the run's locks. They are keys too, but
// none of the load's.
func (p Plan) LockPrefix() string { return p.Prefix + ".lock/" }

// STMLock is the name of the one lock that all transactions of WorkloadSTM take.
func (p Plan) STMLock() string { return p.LockPrefix() + "stm" }
