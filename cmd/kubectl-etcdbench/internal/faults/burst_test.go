package faults

import (
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// processes is few enough for a busy machine: repeated attempts of many would keep each other from ending in time.
const processes = 50

// fetches makes a run one of processes, which start within two seconds and read 20 parameters each.
func fetches(transport spec.Transport) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Workload = spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{
			Layout: spec.LayoutFragmented, ParametersPerProcess: 20, ParameterBytes: 100, Parameters: spec.ParametersShared, Consistency: spec.Serializable,
			Connect: spec.ConnectAtStart, RampSeconds: 2, TimeoutMilliseconds: 500, Attempts: 100,
		}}
		run.Spec.Load = spec.Load{Transport: transport, Pods: 1, Connections: processes, Clients: processes, RequestTimeoutSeconds: 10, Seed: 1}
		run.Spec.Objectives, run.Spec.Guard = nil, &spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}}
	}
}

// While the member stands still, requests and connections time out. They are counted for each process and repeated, and
// every process gets its parameters in the end.
func TestProcessesRepeatWhatTimesOut(t *testing.T) {
	t.Parallel()
	for _, transport := range []spec.Transport{spec.TransportClient, spec.TransportFast, spec.TransportJSON} {
		t.Run(string(transport), func(t *testing.T) {
			cluster := start(t, fault{})
			run := puts(cluster, fetches(transport))
			result(t, run, func() {
				cluster.signal(t, syscall.SIGSTOP, 0)
				<-time.After(1600 * time.Millisecond)
				cluster.signal(t, syscall.SIGCONT, 0)
			})
			requireFinished(t, run, v1alpha1.ReasonCompleted)
			s := run.Status.Summary
			if s.MeasuredRequests != processes || s.FailedRequests+s.CensoredRequests != 0 || s.Burst.LastProcessMicroseconds < 1_900_000 {
				t.Fatalf("%d processes, %d failed, the last ended after %d µs: %+v", s.MeasuredRequests, s.FailedRequests, s.Burst.LastProcessMicroseconds, s.Operations)
			}
			waited, all := int64(0), int64(0)
			for _, c := range s.Burst.Timeouts {
				if all += c.Processes; c.From >= 2 {
					waited += c.Processes
				}
			}
			if all != processes || waited == 0 || s.Burst.UnavailableProcesses != 0 {
				t.Errorf("time-outs of %d processes, %d with two or more: %+v", all, waited, s.Burst)
			}
		})
	}
}
