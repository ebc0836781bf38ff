package kubelet

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// readTimeout bounds one read.
	readTimeout = 5 * time.Second
	// parallelReads bounds the reads of all runs at a time, and so the memory.
	parallelReads = 4
	// readsAfter times readEvery is longer than a kubelet lets pass between two samples of a container, 30 s. It is shorter
	// than client pods wait for the end of their run.
	readsAfter = 7
	readEvery  = 5 * time.Second
)

// Pod is the pod of a member.
type Pod struct {
	// Endpoint is the address of the member.
	Endpoint        string
	Namespace, Name string
	// Host is the address of the node.
	Host        string
	HostNetwork bool
}

func (p Pod) name() name { return name{p.Namespace, p.Name} }

// Config is how to reach kubelets. They get the operator's token.
type Config struct {
	Port int
	// CAFile has the CA of the kubelets' certificates; empty means the cluster's. Insecure accepts any certificate.
	CAFile   string
	Insecure bool
}

// Reader reads kubelets. Its zero value is not usable; see New.
type Reader struct {
	client *http.Client
	port   int
	every  time.Duration
	places chan struct{}

	mu   sync.Mutex
	runs map[types.NamespacedName]*run
}

// run is what is known about one run. The reader's mutex guards it.
type run struct {
	uid     types.UID
	at      time.Time
	stop    context.CancelFunc
	pods    []Pod
	ended   chan Window
	isEnded bool
	// known is nil until everything is read.
	known map[string]v1alpha1.KubeletFigures
}

// New returns a reader with the credentials of a client of the API server.
func New(cluster *rest.Config, c Config) (*Reader, error) {
	own := rest.CopyConfig(cluster)
	// The name in the certificate of the API server is not that of a kubelet, and no proxy may see the token.
	own.ServerName, own.Proxy = "", func(*http.Request) (*url.URL, error) { return nil, nil }
	if c.CAFile != "" {
		own.CAFile, own.CAData = c.CAFile, nil
	}
	if own.Insecure = c.Insecure; c.Insecure {
		own.CAFile, own.CAData = "", nil
	}
	transport, err := rest.TransportFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client of kubelets: %w", err)
	}
	return &Reader{
		client: &http.Client{
			Transport: transport, Timeout: readTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		port: c.Port, every: readEvery, places: make(chan struct{}, parallelReads), runs: map[types.NamespacedName]*run{},
	}, nil
}

// Has reports whether the reader reads the pods of a run at the start of its window, at this time.
func (r *Reader) Has(key types.NamespacedName, uid types.UID, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.runs[key]
	return known != nil && known.uid == uid && known.at.Equal(at)
}

// Begin reads the pods of a run at the start of its window, in this time, and again when End was called.
func (r *Reader) Begin(key types.NamespacedName, uid types.UID, at time.Time, in time.Duration, pods []Pod) {
	r.Forget(key)
	ctx, stop := context.WithCancel(context.Background())
	begun := &run{uid: uid, at: at, stop: stop, pods: pods, ended: make(chan Window, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[key] = begun
	go func() {
		defer stop()
		known := r.measure(ctx, begun, in)
		r.mu.Lock()
		defer r.mu.Unlock()
		begun.known = known
	}()
}

// End tells the window of a run. It returns the figures by address; nil while it reads them.
func (r *Reader) End(key types.NamespacedName, w Window) map[string]v1alpha1.KubeletFigures {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.runs[key]
	if known == nil {
		return map[string]v1alpha1.KubeletFigures{}
	}
	if !known.isEnded {
		known.isEnded = true
		known.ended <- w
	}
	return known.known
}

// Forget stops reading for a run.
func (r *Reader) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.runs[key]; known != nil {
		known.stop()
		delete(r.runs, key)
	}
}

// measure ends with the context.
func (r *Reader) measure(ctx context.Context, run *run, in time.Duration) map[string]v1alpha1.KubeletFigures {
	if !wait(ctx, in) {
		return nil
	}
	before := r.readAll(ctx, run.pods)
	var w Window
	select {
	case w = <-run.ended:
	case <-ctx.Done():
		return nil
	}
	after := map[string]answer{}
	for range readsAfter {
		awaited := awaited(run.pods, before, after, w)
		if len(awaited) == 0 || !wait(ctx, r.every) {
			break
		}
		maps.Copy(after, r.readAll(ctx, awaited))
	}
	known := map[string]v1alpha1.KubeletFigures{}
	for _, p := range run.pods {
		known[p.Endpoint] = figuresOf(p, before[p.Host], after[p.Host], w)
	}
	return known
}

// awaited returns the pods on nodes that have to be read again: one of their pods was not sampled after the window.
func awaited(pods []Pod, before, after map[string]answer, w Window) (out []Pod) {
	hosts := map[string]bool{}
	for _, p := range pods {
		isOld := before[p.Host].err == nil && !after[p.Host].pages[p.name()].isAfter(w.End)
		hosts[p.Host] = hosts[p.Host] || isOld && w.length() >= LeastWindow
	}
	for _, p := range pods {
		if hosts[p.Host] {
			out = append(out, p)
		}
	}
	return out
}

func figuresOf(p Pod, before, after answer, w Window) v1alpha1.KubeletFigures {
	switch {
	case w.length() < LeastWindow:
		return absent(TooShort(w.length()))
	case before.err != nil:
		return absent("at the start of the window: " + before.err.Error())
	case after.err != nil:
		return absent("after the window: " + after.err.Error())
	}
	return figures(before.pages[p.name()], after.pages[p.name()], w, p.HostNetwork)
}

// absent are no figures, with the reason.
func absent(why string) v1alpha1.KubeletFigures {
	return v1alpha1.KubeletFigures{Unknown: text.Shorten(why, v1alpha1.MaxMessageLength)}
}

// TooShort says that a window has no figures.
func TooShort(window time.Duration) string {
	return fmt.Sprintf("the window has %s, and a kubelet samples so seldom that it needs %s", text.Duration(window), text.Duration(LeastWindow))
}

// answer is what one kubelet said, or why it did not.
type answer struct {
	pages map[name]page
	err   error
}

// readAll reads each node of these pods once.
func (r *Reader) readAll(ctx context.Context, pods []Pod) map[string]answer {
	on := map[string]map[name]bool{}
	for _, p := range pods {
		if on[p.Host] == nil {
			on[p.Host] = map[name]bool{}
		}
		on[p.Host][p.name()] = true
	}
	var mu sync.Mutex
	var reading sync.WaitGroup
	out := map[string]answer{}
	for host, names := range on {
		reading.Go(func() {
			pages, err := r.read(ctx, host, names)
			mu.Lock()
			defer mu.Unlock()
			out[host] = answer{pages, err}
		})
	}
	reading.Wait()
	return out
}

func (r *Reader) read(ctx context.Context, host string, pods map[name]bool) (map[name]page, error) {
	select {
	case r.places <- struct{}{}:
		defer func() { <-r.places }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+net.JoinHostPort(host, strconv.Itoa(r.port))+"/metrics/cadvisor", nil)
	if err != nil {
		return nil, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the kubelet could not be read: %w", err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("the kubelet of %s refused the operator (%s): it must be allowed to get nodes/metrics, with a token that the kubelet accepts", host, response.Status)
	default:
		return nil, fmt.Errorf("the kubelet of %s answered %s", host, response.Status)
	}
	pages, err := parse(response.Body, pods)
	if err != nil {
		return nil, fmt.Errorf("the metrics of the kubelet of %s: %w", host, err)
	}
	return pages, nil
}

// wait returns false if the context has ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
