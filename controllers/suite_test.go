package controllers

import (
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// cluster is a real API server without a kubelet or a Job controller; the tests play these. api reads from the API
// server.
var cluster struct {
	config *rest.Config
	scheme *runtime.Scheme
	api    client.Client
}

func TestMain(m *testing.M) { os.Exit(runWithAPIServer(m)) }

func runWithAPIServer(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	return apiservertest.Run("..", func(_ *envtest.Environment, config *rest.Config) int {
		cluster.config, cluster.scheme = config, runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
			if err := add(cluster.scheme); err != nil {
				panic(err)
			}
		}
		var err error
		if cluster.api, err = client.New(config, client.Options{Scheme: cluster.scheme}); err != nil {
			panic(err)
		}
		return m.Run()
	})
}

// movedClock is the real time plus an offset, so that tests need not wait for minutes.
type movedClock struct {
	clock.RealClock
	ahead atomic.Int64
}

func (c *movedClock) Now() time.Time                  { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *movedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c *movedClock) move(d time.Duration)            { c.ahead.Add(int64(d)) }

// faultyClient asks a function before each patch whether it may succeed.
type faultyClient struct {
	client.Client
	mayPatch func(client.Object) error
}

func (c faultyClient) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.PatchOption) error {
	if err := c.mayPatch(o); err != nil {
		return err
	}
	return c.Client.Patch(ctx, o, p, options...)
}

// startOperator runs an operator for one namespace until the returned function is called or the test ends.
func startOperator(t *testing.T, namespace string, clock clock.PassiveClock, transport http.RoundTripper, changes ...func(*EtcdBenchmarkReconciler)) (stop func()) {
	t.Helper()
	m, err := ctrl.NewManager(cluster.config, ctrl.Options{
		Scheme:  cluster.scheme,
		Cache:   CacheOptions([]string{namespace}),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := NewEtcdBenchmarkReconciler(m, "example.org/loadgen:v1")
	r.Clock, r.Collector = clock, collector.New(transport)
	r.Caps.MemberImages = []lifecycle.ImagePattern{"example.org/etcd:*"}
	for _, change := range changes {
		change(r)
	}
	if err := r.SetupWithManager(m, controller.Options{SkipNameValidation: new(true)}); err != nil {
		t.Fatal(err)
	}
	if err := NewCleanupJobReconciler(m).SetupWithManager(m, controller.Options{SkipNameValidation: new(true)}); err != nil {
		t.Fatal(err)
	}
	return runManager(t, m)
}

func runManager(t *testing.T, m ctrl.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}
