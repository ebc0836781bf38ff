package benchmark

import (
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Plan returns what the client pods of b are to do against these endpoints,
// which are host:port with an optional scheme. b must have its defaults.
func Plan(b *v1alpha1.EtcdBenchmark, endpoints []string) (plan.Plan, error) {
	p := plan.Plan{
		Version:        plan.Version,
		RunUID:         string(b.UID),
		Name:           b.Namespace + "/" + b.Name,
		Pods:           int(b.Resolved().Load.Pods),
		Prefix:         b.KeyPrefix(),
		Target:         planTarget(b.Spec.Target, endpoints),
		Workload:       planWorkload(b.Resolved().Workload),
		Load:           planLoad(b.Resolved().Load),
		Guard:          planGuard(b.Spec.Guard),
		Disturbances:   planDisturbances(b.Spec.Disturbances),
		AwaitTurn:      b.Spec.Target.ConcurrentRuns != v1alpha1.ConcurrentRunsAllow,
		TimeoutSeconds: int(b.Spec.TimeoutSeconds),
	}
	if b.UsesLeases() {
		p.FirstLease = b.FirstLease()
	}
	if err := p.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("making the plan of %s: %w", p.Name, err)
	}
	return p, nil
}

func planTarget(t v1alpha1.Target, endpoints []string) plan.Target {
	out := plan.Target{Endpoints: bareEndpoints(endpoints), Members: plan.Members(t.Members), SampleIntervalSeconds: int(t.SampleIntervalSeconds)}
	if t.TLS != nil {
		out.TLS = &plan.TLS{Dir: plan.TLSDir, SecretName: t.TLS.SecretName, ServerName: t.TLS.ServerName}
	}
	if t.Auth != nil {
		out.Auth = &plan.Auth{Dir: plan.AuthDir, SecretName: t.Auth.SecretName}
	}
	return out
}

// bareEndpoints strips the schemes: whether TLS is spoken follows from the
// target's tls field alone.
func bareEndpoints(endpoints []string) []string {
	out := make([]string, len(endpoints))
	for i, e := range endpoints {
		out[i] = strings.TrimPrefix(strings.TrimPrefix(e, "https://"), "http://")
	}
	return out
}

// planWorkload reads the member of the union that the type names; admission
// has made sure that it is there, and an empty one fails the plan's validation.
func planWorkload(w v1alpha1.Workload) plan.Workload {
	var out plan.Workload
	switch {
	case w.Put != nil:
		out = keySpace(w.Put.KeySize, w.Put.ValueSize, w.Put.Keys)
		out.Values = values(w.Put.Values, w.Put.ValueSize)
	case w.Range != nil:
		out = keySpace(w.Range.KeySize, w.Range.ValueSize, w.Range.Keys)
		out.Values = values(w.Range.Values, w.Range.ValueSize)
		out.Serializable = w.Range.Consistency == v1alpha1.ConsistencySerializable
		out.Interval = interval(*w.Range)
	case w.Mixed != nil:
		out = keySpace(w.Mixed.KeySize, w.Mixed.ValueSize, w.Mixed.Keys)
		out.Values = values(w.Mixed.Values, w.Mixed.ValueSize)
		out.Serializable = w.Mixed.Consistency == v1alpha1.ConsistencySerializable
		out.ReadsPerHundred, out.InTransaction = int(w.Mixed.ReadsPerHundred), w.Mixed.InTransaction
	case w.Delete != nil:
		out = keySpace(w.Delete.KeySize, w.Delete.ValueSize, w.Delete.Keys)
		out.Values = values(w.Delete.Values, w.Delete.ValueSize)
	case w.Txn != nil:
		out = planTxn(w.Txn)
	case w.STM != nil:
		out = planSTM(w.STM)
	case w.Lock != nil:
		out.Contest = planLock(w.Lock)
	case w.Election != nil:
		out.Contest = planElection(w.Election)
	case w.Lease != nil:
		out.Lease = planLease(w.Lease)
	case w.Watch != nil:
		out = planWatch(w.Watch)
	case w.WatchGet != nil:
		out = planWatchGet(w.WatchGet)
	case w.Kubernetes != nil:
		out = planKubernetes(w.Kubernetes)
	}
	out.Type = plan.WorkloadType(w.Type)
	return out
}

func keySpace(keySize, valueSize int32, keys v1alpha1.KeySpace) plan.Workload {
	return plan.Workload{
		KeySize:   int(keySize),
		ValueSize: int(valueSize),
		KeyCount:  keys.Count,
		KeyOrder:  plan.KeyOrder(keys.Order),
		Demand:    demand(keys),
	}
}

// values says what values of at most this size are made of.
func values(v *v1alpha1.Values, size int32) plan.Values {
	var out plan.Values
	if v == nil {
		return out
	}
	switch {
	case v.Content == v1alpha1.ValueContentZero:
		out.ZeroPercent = 100
	case v.RandomPercent != nil:
		out.ZeroPercent = 100 - int(*v.RandomPercent)
	}
	if v.MinSize != nil {
		out.Spread = int(size - *v.MinSize)
	}
	out.LogUniform = v.Sizes == v1alpha1.ValueSizesLogUniform
	return out
}

// interval leaves out what does not make a request other than one of a key.
func interval(r v1alpha1.RangeWorkload) plan.Interval {
	out := plan.Interval{KeysOnly: r.KeysOnly, CountOnly: r.CountOnly, Stream: r.Delivery == v1alpha1.DeliveryStream}
	if r.KeysPerRequest > 1 {
		out.Keys = r.KeysPerRequest
	}
	if r.Limit != nil {
		out.Limit = *r.Limit
	}
	if r.PageSize != nil {
		out.PageKeys = *r.PageSize
	}
	return out
}

func demand(keys v1alpha1.KeySpace) plan.Demand {
	var out plan.Demand
	if keys.Zipf != nil {
		out.ZipfThousandths = int(keys.Zipf.ExponentThousandths)
	}
	if keys.HotSpot != nil {
		out.HotKeysPerThousand = int(keys.HotSpot.KeysPerThousand)
		out.HotRequestsPerThousand = int(keys.HotSpot.RequestsPerThousand)
	}
	return out
}

func planLoad(l v1alpha1.Load) plan.Load {
	out := plan.Load{
		Transport:             string(l.Transport),
		Connections:           int(l.Connections),
		Clients:               int(l.Clients),
		WarmupSeconds:         int(l.WarmupSeconds),
		RequestTimeoutSeconds: int(l.RequestTimeoutSeconds),
		Seed:                  l.Seed,
	}
	if l.Requests != nil {
		out.Requests = *l.Requests
	}
	if l.DurationSeconds != nil {
		out.DurationSeconds = int(*l.DurationSeconds)
	}
	if l.Rate != nil {
		planRate(*l.Rate, &out)
	}
	return out
}

// planRate adds the schedule of an open loop. A ramp is one stage, as long as
// the window; stages are the window.
func planRate(r v1alpha1.Rate, out *plan.Load) {
	out.RatePerSecond = r.PerSecond
	out.Poisson = r.Arrival == v1alpha1.ArrivalPoisson
	if r.Ramp != nil {
		out.Stages = []plan.Stage{{FromPerSecond: r.Ramp.FromPerSecond, ToPerSecond: r.Ramp.ToPerSecond, Seconds: out.DurationSeconds}}
	}
	for _, s := range r.Stages {
		out.Stages = append(out.Stages, plan.Stage{FromPerSecond: s.PerSecond, ToPerSecond: s.PerSecond, Seconds: int(s.Seconds)})
		out.DurationSeconds += int(s.Seconds)
	}
}
