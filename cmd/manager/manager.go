package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers"
)

// The lease is longer than an outage of the API server of 30 s, so that the leader does not exit because of it. A
// leader that is terminated releases the lease at once.
const (
	leaseName     = "etcd-benchmark-operator.etcdbench.dev"
	leaseDuration = 60 * time.Second
	renewDeadline = 45 * time.Second
	retryPeriod   = 5 * time.Second
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// newManager returns a manager with all controllers and probes registered, and what the readiness probe asks. The cache
// has the namespaces of the scope.
func newManager(config *rest.Config, o options, s scope) (m ctrl.Manager, isReady func() error, err error) {
	if err := checkCertificate(o.metricsCertificate); err != nil {
		return nil, nil, err
	}
	if m, err = ctrl.NewManager(config, managerOptions(o, s)); err != nil {
		return nil, nil, fmt.Errorf("making the manager: %w", err)
	}
	if s.isEmpty() {
		// Without a namespace, the cache would have all of them.
		isReady = func() error { return errors.New("the operator may read none of its namespaces") }
		return m, isReady, addProbes(m, isReady)
	}
	if isReady, err = syncedOf(m.GetCache()); err != nil {
		return nil, nil, fmt.Errorf("preparing the cache: %w", err)
	}
	if err := addProbes(m, isReady); err != nil {
		return nil, nil, err
	}
	return m, isReady, addControllers(m, o)
}

func managerOptions(o options, s scope) ctrl.Options {
	return ctrl.Options{
		Scheme:                        newScheme(),
		Cache:                         controllers.CacheOptions(s.Readable),
		HealthProbeBindAddress:        o.probeAddress,
		PprofBindAddress:              o.pprofAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 new(leaseDuration),
		RenewDeadline:                 new(renewDeadline),
		RetryPeriod:                   new(retryPeriod),
		Metrics: metricsserver.Options{
			BindAddress:    o.metricsAddress,
			SecureServing:  true,
			CertDir:        o.metricsCertificate,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
	}
}

// checkCertificate fails if there is no certificate in a folder. The server of the metrics would sign one itself, and scrapers
// that expect the other one would refuse it.
func checkCertificate(folder string) error {
	if folder == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")); err != nil {
		return fmt.Errorf("--metrics-certificate: wanted tls.crt and tls.key: %w", err)
	}
	return nil
}

// addProbes adds the liveness probe, and a readiness probe that succeeds when isReady returns no error.
func addProbes(m ctrl.Manager, isReady func() error) error {
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return m.AddReadyzCheck("caches", func(*http.Request) error { return isReady() })
}

// syncedOf has the cache hold all kinds that controllers need, also in a replica that does not lead, and returns a function
// that reports whether it holds them.
func syncedOf(c cache.Cache) (func() error, error) {
	informers := map[string]cache.Informer{}
	for _, kind := range controllers.Kinds() {
		informer, err := c.GetInformer(context.Background(), kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, err
		}
		informers[fmt.Sprintf("%T", kind)] = informer
	}
	return func() error {
		for kind, informer := range informers {
			if !informer.HasSynced() {
				return fmt.Errorf("the cache has not received all objects of type %s", kind)
			}
		}
		return nil
	}, nil
}

func addControllers(m ctrl.Manager, o options) error {
	benchmarks := controllers.NewEtcdBenchmarkReconciler(m, o.clientImage)
	benchmarks.Caps, benchmarks.MemberUser = o.caps, o.memberUser
	if o.kubelets.Port != 0 {
		if err := benchmarks.ReadKubelets(m.GetConfig(), o.kubelets); err != nil {
			return err
		}
	}
	if err := benchmarks.SetupWithManager(m, controller.Options{MaxConcurrentReconciles: o.workers}); err != nil {
		return fmt.Errorf("registering the controller of EtcdBenchmarks: %w", err)
	}
	if err := controllers.NewCleanupJobReconciler(m).SetupWithManager(m, controller.Options{}); err != nil {
		return fmt.Errorf("registering the controller of cleanup Jobs: %w", err)
	}
	if err := controllers.NewEtcdBenchmarkSuiteReconciler(m).SetupWithManager(m, controller.Options{}); err != nil {
		return fmt.Errorf("registering the controller of EtcdBenchmarkSuites: %w", err)
	}
	if err := controllers.NewEtcdBenchmarkScheduleReconciler(m).SetupWithManager(m, controller.Options{}); err != nil {
		return fmt.Errorf("registering the controller of EtcdBenchmarkSchedules: %w", err)
	}
	if err := controllers.RegisterMetrics(m.GetClient()); err != nil {
		return fmt.Errorf("registering the metrics of runs, suites and schedules: %w", err)
	}
	return nil
}
