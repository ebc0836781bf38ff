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

// Resolver resolves host names; *net.Resolver implements it.
type Resolver interface {
	// LookupNetIP returns the addresses of a name; network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// lookUpLimit bounds the lookup of all names of a run. It delays only this run: no lock is held.
const lookUpLimit = 3 * time.Second

// observeNames resolves the names that are compared with the control plane's addresses, once per run. A name that
// cannot be resolved is logged, and the run continues: client pods cannot reach the name either, or they check for the
// control plane's keys themselves.
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

// namesInPod returns the names under which a client pod of the namespace may find a host. For the short name of a
// Service, or of a pod of a Service, the pod's resolver tries its own namespace first. All other names resolve as they
// do for the operator.
func namesInPod(host, namespace string) []string {
	if strings.HasSuffix(host, ".") || strings.Count(host, ".") > 1 {
		return []string{host}
	}
	return []string{host + "." + namespace + ".svc", host}
}

// lookUpAll resolves the names of each key.
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
				log.FromContext(ctx).Info("Could not look up a name, so it is not compared with the control "+
					"plane's addresses", "name", key, "within", lookUpLimit.String(), "problem", cmp.Or(err, errNoAddress).Error())
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

var errNoAddress = errors.New("the name has no address")

// lookUp returns the addresses of all names, and the last error.
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
