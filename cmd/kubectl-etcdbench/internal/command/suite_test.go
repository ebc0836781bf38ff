package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
)

// maxWait is far more than any step here takes.
const maxWait = 4 * time.Minute

// apiServer is shared by all tests of the package.
var apiServer struct {
	config     *rest.Config
	client     client.Client
	kubeconfig string
}

func TestMain(m *testing.M) {
	supervisor.Main()
	os.Exit(runWithAPIServer(m))
}

func runWithAPIServer(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	return apiservertest.Run(filepath.Join("..", "..", "..", ".."), func(env *envtest.Environment, config *rest.Config) int {
		if err := prepare(env, config); err != nil {
			fmt.Fprintln(os.Stderr, "preparing the kube-apiserver:", err)
			return 1
		}
		defer os.Remove(apiServer.kubeconfig)
		return m.Run()
	})
}

func prepare(env *envtest.Environment, config *rest.Config) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	user, err := env.AddUser(envtest.User{Name: "engineer", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return err
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "kubeconfig-")
	if err != nil {
		return err
	}
	defer file.Close()
	apiServer.config, apiServer.client, apiServer.kubeconfig = config, c, file.Name()
	_, err = file.Write(kubeconfig)
	return err
}

// namespace creates a namespace for the test.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cli-"}}
	if err := apiServer.client.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// called is a running command.
type called struct {
	out, err *output
	signals  chan os.Signal
	status   chan int
}

// call runs the command line against the API server.
func call(stdin string, args ...string) *called {
	c := &called{out: &output{}, err: &output{}, signals: make(chan os.Signal, 2), status: make(chan int, 1)}
	if !slices.Contains(args, "--local") && !slices.Contains([]string{"ab", "plan", "check", "disk", "bench", "explain", "samples", "completion", "__complete"}, args[0]) {
		args = append(args, "--kubeconfig", apiServer.kubeconfig)
	}
	go func() {
		c.status <- Main("test", args, Streams{In: strings.NewReader(stdin), Out: c.out, Err: c.err}, c.signals)
	}()
	return c
}

// end waits for the command to end.
func (c *called) end(t *testing.T) (status int) {
	t.Helper()
	select {
	case status = <-c.status:
	case <-time.After(maxWait):
		t.Fatalf("the command hangs; standard error:\n%s", c.err)
	}
	return status
}

func (c *called) wantStatus(t *testing.T, want int) {
	t.Helper()
	if got := c.end(t); got != want {
		t.Errorf("wanted exit status %d, got %d; standard error:\n%s", want, got, c.err)
	}
}

// wantResult wants a result. A busy machine can make runs invalid; then there is no verdict.
func (c *called) wantResult(t *testing.T) {
	t.Helper()
	if got := c.end(t); got != exitDone && got != exitUnknown {
		t.Errorf("wanted a result, got exit status %d; standard error:\n%s", got, c.err)
	}
}

// output can be read while a command writes to it.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await waits until the stream contains a text.
func (o *output) await(t *testing.T, want string) {
	t.Helper()
	eventually(t, "the text "+want, func() bool { return strings.Contains(o.String(), want) })
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("timed out waiting for %s", what)
		case <-tick.C:
		}
	}
}

// awaitRun waits until a run of that name exists and a condition holds.
func awaitRun(t *testing.T, key client.ObjectKey, is func(*v1alpha1.EtcdBenchmark) bool) *v1alpha1.EtcdBenchmark {
	t.Helper()
	run := &v1alpha1.EtcdBenchmark{}
	eventually(t, "the run "+key.String(), func() bool {
		return apiServer.client.Get(t.Context(), key, run) == nil && is(run)
	})
	return run
}

func anyState(*v1alpha1.EtcdBenchmark) bool { return true }

// operate writes a status, as an operator would.
func operate(t *testing.T, key client.ObjectKey, change func(*v1alpha1.EtcdBenchmarkStatus)) {
	t.Helper()
	run := awaitRun(t, key, anyState)
	run.Status.ObservedGeneration = run.Generation
	change(&run.Status)
	if err := apiServer.client.Status().Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
}

func stage(name string, status metav1.ConditionStatus) func(*v1alpha1.EtcdBenchmarkStatus) {
	return func(s *v1alpha1.EtcdBenchmarkStatus) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionFinished, Status: status, Reason: name, Message: "Written by a test.",
		})
	}
}
