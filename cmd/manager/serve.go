package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers"
	"github.com/etcdbench/etcd-benchmark-operator/internal/namespaces"
)

// errNamespacesChanged: the operator may read other namespaces than at its start.
var errNamespacesChanged = errors.New("the readable namespaces have changed")

var namespaceReadable = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "etcdbench_namespace_readable",
	Help: "1 if the operator works in a namespace of --namespaces, 0 if it leaves the namespace out because it may not read it. Absent without --namespaces.",
}, []string{"namespace"})

func init() { metrics.Registry.MustRegister(namespaceReadable) }

// lookEvery is the time between two looks at the namespaces. A look is two small requests for each kind of object in each
// namespace. Tests shorten it.
var lookEvery = 30 * time.Second

// scope is what the operator may read of the namespaces in --namespaces.
type scope struct {
	namespaces.View
	access namespaces.Access
}

// lookAt returns a scope without names if there are none, which means all namespaces.
func lookAt(ctx context.Context, config *rest.Config, names []string) (s scope, err error) {
	if len(names) == 0 {
		return s, nil
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return s, err
	}
	s.access = namespaces.Access{Client: c, Names: names, Kinds: controllers.Kinds()}
	s.View, err = s.access.Look(ctx)
	return s, err
}

// isEmpty reports whether the operator may read none of its namespaces.
func (s scope) isEmpty() bool { return len(s.access.Names) > 0 && len(s.Readable) == 0 }

// serve runs the controllers until the context ends, or until the readable namespaces change.
func serve(ctx context.Context, config *rest.Config, o options) error {
	s, err := lookAt(ctx, config, o.namespaces)
	if err != nil {
		return err
	}
	m, isReady, err := newManager(config, o, s)
	if err != nil {
		return err
	}
	ctrl.Log.Info("Starting", "version", version, "clientImage", o.clientImage, "namespaces", s.Readable)
	s.announce(m, o)
	return s.run(ctx, m, isReady)
}

// announce tells of the namespaces that are left out: in the log, in a metric, and in an event on the operator's lease, in
// a namespace in which the operator may always create events.
func (s scope) announce(m ctrl.Manager, o options) {
	for _, name := range s.Readable {
		namespaceReadable.WithLabelValues(name).Set(1)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: o.ownNamespace(), Name: leaseName}}
	recorder := m.GetEventRecorder(v1alpha1.ManagedBy)
	for _, name := range slices.Sorted(maps.Keys(s.Refused)) {
		namespaceReadable.WithLabelValues(name).Set(0)
		ctrl.Log.Error(s.Refused[name], "The operator leaves a namespace out, because it may not read it. Create its Role again, "+
			"or remove it from --namespaces (the chart's value namespaces)", "namespace", name)
		if lease.Namespace != "" {
			recorder.Eventf(lease, nil, corev1.EventTypeWarning, "NamespaceLeftOut", "Start",
				"The operator leaves out the namespace %s, because it may not read it: %v", name, s.Refused[name])
		}
	}
}

// run starts the manager. It ends with errNamespacesChanged when another start would find other namespaces.
func (s scope) run(ctx context.Context, m ctrl.Manager, isReady func() error) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended, changed := make(chan error, 1), make(chan struct{})
	go func() { ended <- m.Start(ctx) }()
	if len(s.access.Names) > 0 {
		go func() {
			if s.access.AwaitChange(ctx, s.View, lookEvery) {
				close(changed)
			}
		}()
	}
	select {
	case err := <-ended:
		return err
	case <-changed:
		err = errNamespacesChanged
	case <-ctx.Done():
	}
	if isReady() != nil {
		// No controller works yet. A manager whose cache is not complete would not end.
		return err
	}
	stop()
	return errors.Join(err, <-ended)
}
