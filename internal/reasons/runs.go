package reasons

import "github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"

// untilThen is a part of several meanings.
const untilThen = "The result has what was measured until then."

var stages = []Entry{
	{Stage, v1alpha1.StagePending, "The operator finds the target's addresses, and waits for members that start.", "If it stays: read the message; check that the operator runs and watches this namespace."},
	{Stage, v1alpha1.StageQueued, "The run waits for other runs. `status.queue` says for what: runs at the same addresses, the limit of runs in its namespace, or the lock of the target, which another run holds.", "Wait, or stop the other run: `kubectl etcdbench stop NAME`."},
	{Stage, v1alpha1.StagePreparing, "Client pods start, connect, check the target and write the keys that the load needs (the preload).", "If it stays: read the message, and `kubectl etcdbench logs NAME`."},
	{Stage, v1alpha1.StageArmed, "All client pods are ready and wait for the common start.", ""},
	{Stage, v1alpha1.StageRunning, "The load: warm-up, measured window, and the last responses. A suite: its runs start one after the other.", ""},
	{Stage, v1alpha1.StageChecking, "Only a suite: the operator asks the API server whether it accepts the runs of the suite.", ""},
	{Stage, v1alpha1.StageCollecting, "Client pods delete the run's keys and report.", "Millions of keys take minutes to delete. The message has the number that is left."},
}

var ends = []Entry{
	{End, v1alpha1.ReasonCompleted, "The run did everything that its spec asks for.", "Read the result."},
	{End, v1alpha1.ReasonMissedEarly, "An objective could not be met any more, and `spec.onObjectiveMissed` is `Stop`, as in each run of a search for the highest rate. " + untilThen, "Read the objectives. Remove `spec.onObjectiveMissed` to measure the whole window."},
	{End, v1alpha1.ReasonStopped, "A user set `spec.stop`, interrupted the command or deleted the object. " + untilThen, "Repeat the run to its end if you need all numbers."},
	{End, v1alpha1.ReasonTimedOut, "`spec.timeoutSeconds` was too short. " + untilThen, "Raise `spec.timeoutSeconds`, or reduce the load."},
	{End, v1alpha1.ReasonTargetNotFound, "The Service, its port, or the pods that the selector should match do not exist.", "Check `spec.target` and the namespace."},
	{End, v1alpha1.ReasonTargetUnreachable, "An address does not resolve, refuses connections or does not answer.", "Check the address and network policies. If other addresses answer, `spec.target.unreachableMembers: Skip` loads those."},
	{End, v1alpha1.ReasonTargetLost, "The members stopped answering in the measured window and did not come back: no request succeeded any more, and no member answered a linearizable read for 5 s, or for the request time-out if that is longer. " + untilThen, "Check the members."},
	{End, v1alpha1.ReasonTargetBusy, "Another run held the lock of the target for `spec.schedulingTimeoutSeconds`. Nothing was written.", "Wait until the other run has ended. It may have been started elsewhere: by another operator, or with `run --local`. To load the target beside it, set `spec.target.concurrentRuns: Allow`."},
	{End, v1alpha1.ReasonTargetTaken, "The target did not answer for so long that the run's lock expired, and another run took it. " + untilThen, "Check why the target did not answer, and repeat the run."},
	{End, v1alpha1.ReasonOwnershipLost, "The key of a client pod, or the run's marker, is gone, or the target refuses to renew that key, for example because its database is full. The pod sends nothing any more. " + untilThen, "Find out what changed the keys under the run's prefix, or free space in the target."},
	{End, v1alpha1.ReasonTargetUnhealthy, "The target answers, but cannot be used.", "Read the message. For example, etcd is full or overloaded, or a ZooKeeper accepts no further connection (`maxClientCnxns`)."},
	{End, v1alpha1.ReasonTLSFailed, "The TLS handshake failed: the client pod did not accept the member's certificate, or the member did not accept the client's.", "Check the CA and the names in the certificates."},
	{End, v1alpha1.ReasonAuthenticationFailed, "The target refused the user, or the user lacks permissions.", "Check the user and its role."},
	{End, v1alpha1.ReasonSecretInvalid, "A Secret, or a key in it, is missing or cannot be used.", "Check the keys of the Secret."},
	{End, v1alpha1.ReasonNoQuorum, "The members that answer have no leader.", "Check members that are down."},
	{End, v1alpha1.ReasonAlarmRaised, "A member has raised `NOSPACE` or `CORRUPT`.", "Look at `etcdctl alarm list`."},
	{End, v1alpha1.ReasonGuardStopped, "A rule of `spec.guard.stopOn` ended the run. `status.guard` says which one. " + untilThen, "Reduce the load, or change the rule."},
	{End, v1alpha1.ReasonUnsupported, "A member does not serve a call that the run needs, or it serves another store than `spec.target.datastore` says.", "Check the version of the members. For kine (K3s without etcd), set `spec.target.datastore: Kine`."},
	{End, v1alpha1.ReasonEndpointNotAllowed, "The `limits` of the chart forbid load on an address of the target.", "Use another target, or ask the administrator of the operator."},
	{End, v1alpha1.ReasonLimitExceeded, "The run needs more pods or a higher rate than the `limits` of the chart allow, or it has no `spec.load.rate` although they limit the rate.", "Reduce the load; set `spec.load.rate` if the run has none."},
	{End, v1alpha1.ReasonQuotaInsufficient, "The run is expected to write more than `spec.guard` allows, or the quota of a member is used up.", "Write less, compact and defragment etcd, raise its quota, or set `spec.guard.maxFreeQuotaPercent`."},
	{End, v1alpha1.ReasonControlPlaneTarget, "Others depend on the target. It has keys of an API server, it is in `controlPlaneEndpoints` of the chart, or it is a ZooKeeper with znodes of Kafka, HBase and the like.", "Use another target. `spec.guard.acknowledgeControlPlane` allows the run."},
	{End, v1alpha1.ReasonPrefixNotEmpty, "One of: `spec.target.keyPrefix` already has keys; a lease with one of the run's IDs already exists; another run owns a prefix that `spec.target.keyPrefix` lies within. Nothing of others was changed.", "Choose another prefix. `kubectl etcdbench clean` removes what killed runs left."},
	{End, v1alpha1.ReasonImageUnavailable, "The client image cannot be pulled.", "Check the image and the pull secret."},
	{End, v1alpha1.ReasonPodsForbidden, "A quota, limit range or admission policy refused the client pods.", "Read the message: it names the quota, the limit or the policy. If a policy demands a label or an annotation, set `spec.pod.labels` or `spec.pod.annotations`. `etcd-benchmark-operator-jobs` is the operator's own policy for its Jobs."},
	{End, v1alpha1.ReasonUnschedulable, "No node accepts the client pods.", "Check the nodes and `spec.pod`."},
	{End, v1alpha1.ReasonPodsNotReady, "The client pods did not become ready in time.", "Check the nodes and `spec.pod`, and `kubectl etcdbench logs NAME`."},
	{End, v1alpha1.ReasonPartlyCompleted, "Client pods were lost, and `spec.onPodLost` is `Continue`. The result is partial: it has what the other pods measured.", "Find out why the pods were lost, and repeat the run."},
	{End, v1alpha1.ReasonPodFailed, "A client pod was lost before it had measured everything, or ended with an error of its own.", "Read `kubectl etcdbench logs NAME`."},
	{End, v1alpha1.ReasonJobDeleted, "The load Job was deleted, and not by the operator.", "Find out what deleted the Job."},
	{End, v1alpha1.ReasonInvalidPlan, "Operator and client image have different versions, or the ConfigMap that tells the client pods what to do was replaced.", "Set `clientImage` to the operator's version; find out what replaced the ConfigMap."},
}

var keys = []Entry{
	{Keys, v1alpha1.ReasonKeysDeleted, "No key of the run is left in the target.", ""},
	{Keys, v1alpha1.ReasonPodStillWrites, "A client pod that the operator has lost still changes its key in the target. The cleanup waits until it has ended, at the latest after `spec.timeoutSeconds`.", "Find the pod's process on its node. End it if you need the target sooner."},
	{Keys, v1alpha1.ReasonKeysLeft, "Keys of the run may be left under its prefix.", "Do what the condition's message says."},
	{Keys, v1alpha1.ReasonNothingWritten, "The run ended before it wrote to the target.", ""},
}
