package controllers

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns what a name leads to; network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// lookUpLimit bounds how long a run's names are looked up, all at once. It holds
// up this run alone: no lock is held meanwhile.
const lookUpLimit = 3 * time.Second

// observeNames looks up what is to be compared with the addresses of a control
// plane, once in a run. What cannot be looked up is said in the log, and goes on:
// client pods cannot reach it either, or look for the control plane's keys there.
func (r *EtcdBenchmarkReconciler) observeNames(ctx context.Context, o *lifecycle.Observed) error {
	ofTarget, configured := lifecycle.NamesToLookUp(o.Run, o.Target, r.Caps)
	wanted := map[string][]string{}
	for _, host := range configured {
		wanted[lifecycle.NameKey(host)] = []string{host}
	}
	for _, host := range ofTarget {
		wanted[lifecycle.NameKey(host)] = namesInPod(host, o.Run.Namespace)
	}
	o.Target.Names = r.lookUpAll(ctx, wanted)
	return nil
}

// namesInPod are the names by which a client pod of the namespace may find a host:
// its resolver tries its own namespace first for what is no more than a Service,
// or a pod of one. All else the operator's resolver finds as the pod's does.
func namesInPod(host, namespace string) []string {
	if strings.HasSuffix(host, ".") || strings.Count(host, ".") > 1 {
		return []string{host}
	}
	return []string{host + "." + namespace + ".svc", host}
}

// lookUpAll looks up what each key stands for.
func (r *EtcdBenchmarkReconciler) lookUpAll(ctx context.Context, wanted map[string][]string) lifecycle.Names {
	ctx, cancel := context.WithTimeout(ctx, lookUpLimit)
	defer cancel()
	found := lifecycle.Names{}
	var mu sync.Mutex
	var lookUps sync.WaitGroup
	for key, names := range wanted {
		lookUps.Go(func() {
			addresses, err := r.lookUp(ctx, names)
			if len(addresses) == 0 {
				log.FromContext(ctx).Info("A name could not be looked up: whether it leads to a control plane is not known", "name", key, "within", lookUpLimit.String(), "problem", cmp.Or(err, errNoAddress).Error())
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[key] = addresses
		})
	}
	lookUps.Wait()
	return found
}

var errNoAddress = errors.New("it has no address")

// lookUp returns all addresses to which any of the names leads, and the last
// problem.
func (r *EtcdBenchmarkReconciler) lookUp(ctx context.Context, names []string) (all []netip.Addr, problem error) {
	for _, name := range names {
		addresses, err := r.Resolver.LookupNetIP(ctx, "ip", name)
		if err != nil {
			problem = err
		}
		for _, a := range addresses {
			all = append(all, a.Unmap())
		}
	}
	return all, problem
}
