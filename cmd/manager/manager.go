package main

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
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

// newManager returns a manager with all controllers and probes registered.
func newManager(config *rest.Config, o options) (ctrl.Manager, error) {
	if err := checkCertificate(o.metricsCertificate); err != nil {
		return nil, err
	}
	m, err := ctrl.NewManager(config, managerOptions(o))
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	if err := addProbes(m); err != nil {
		return nil, err
	}
	return m, addControllers(m, o)
}

func managerOptions(o options) ctrl.Options {
	return ctrl.Options{
		Scheme:                        newScheme(),
		Cache:                         controllers.CacheOptions(o.namespaces),
		HealthProbeBindAddress:        o.probeAddress,
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

func addProbes(m ctrl.Manager) error {
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return m.AddReadyzCheck("ping", healthz.Ping)
}

func addControllers(m ctrl.Manager, o options) error {
	benchmarks := controllers.NewEtcdBenchmarkReconciler(m, o.clientImage)
	benchmarks.Namespaces, benchmarks.Caps = o.namespaces, o.caps
	if err := benchmarks.SetupWithManager(m, controller.Options{MaxConcurrentReconciles: o.workers}); err != nil {
		return fmt.Errorf("registering the controller of EtcdBenchmarks: %w", err)
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
