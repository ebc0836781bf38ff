package collector

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

const (
	// scrapeTimeout bounds one request of a scrape; a pod under full load answers late.
	scrapeTimeout = 3 * time.Second
	// parallelRequests bounds how many of a run's pods are requested at a time, of those that answered the last scrape:
	// a thousand requests at once would time out because the operator is slow to read the answers. parallelSilent bounds
	// the same for the others, so that pods that stay silent do not delay those that answer. A pod that lets its turn pass
	// without an answer leaves its place to the next one, and may still answer.
	parallelRequests = 64
	parallelSilent   = 256
	turn             = 500 * time.Millisecond
	// parallelReads bounds how many answers of a run's pods are read at a time, and so the memory. Pods that stop in the
	// middle of an answer can delay the other pods of their own run.
	parallelReads = 16
	// parallelDecodes bounds how many answers of all runs are decoded at a time, because that takes most of the memory. They
	// have been read, so a pod that answers slowly does not delay those of other runs.
	parallelDecodes = 8
)

// scraper reads pods' metrics. The answers are untrusted: it follows no redirect, uses no proxy, and bounds time and
// size.
type scraper struct {
	client *http.Client
	port   int
	// decoding has room for the answers that are decoded now.
	decoding chan struct{}
}

func newScraper(transport http.RoundTripper, port int) scraper {
	if transport == nil {
		transport = &http.Transport{
			DialContext:           (&net.Dialer{Timeout: scrapeTimeout}).DialContext,
			MaxIdleConnsPerHost:   1,
			IdleConnTimeout:       30 * time.Second,
			ResponseHeaderTimeout: scrapeTimeout,
		}
	}
	return scraper{
		port:     port,
		decoding: make(chan struct{}, parallelDecodes),
		client: &http.Client{
			Transport:     transport,
			Timeout:       scrapeTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// scrapeAll returns the valid answers, and the errors of the other pods, by pod name.
func (s scraper) scrapeAll(ctx context.Context, r round, pods []target) (answers map[string]answer, errs map[string]error) {
	var (
		mu   sync.Mutex
		busy sync.WaitGroup
	)
	r.room = make(chan struct{}, parallelReads)
	places := map[bool]chan struct{}{true: make(chan struct{}, parallelRequests), false: make(chan struct{}, parallelSilent)}
	answers, errs = make(map[string]answer, len(pods)), map[string]error{}
	for _, p := range pods {
		busy.Go(func() {
			defer takeTurn(places[p.answered])()
			start := time.Now()
			read, err := s.scrape(ctx, r, p)
			observe(time.Since(start), err)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs[p.Name] = err
				return
			}
			answers[p.Name] = read
		})
	}
	busy.Wait()
	return answers, errs
}

// round is one scrape of all pods of a run.
type round struct {
	run types.UID
	now func() time.Time
	// room limits the answers that are read at a time; scrapeAll makes it.
	room chan struct{}
}

// takeTurn waits for a place. The place is free again after the turn, or when the caller is done.
func takeTurn(places chan struct{}) (done func()) {
	places <- struct{}{}
	leave := sync.OnceFunc(func() { <-places })
	over := time.AfterFunc(turn, leave)
	return func() {
		over.Stop()
		leave()
	}
}

// scrape reads a pod's answer when there is room. The wait does not affect the clock reading, because the pod has read
// its clock before it starts to answer. The course is read once, when the pod has measured: it is final then.
func (s scraper) scrape(ctx context.Context, r round, p target) (answer, error) {
	var (
		out             answer
		asked, answered time.Time
		data            *bytes.Buffer
	)
	err := s.get(ctx, r, p.Pod, plan.MetricsPath, func(body io.Reader, contentType string, from, to time.Time) error {
		asked, answered = from, to
		data = buffers.Get().(*bytes.Buffer)
		return wire.ReadScrape(data, body, contentType)
	})
	if err == nil {
		if out.snapshot, err = s.decode(data.Bytes()); err != nil {
			err = fmt.Errorf("scraping %s: %w", p.Name, err)
		}
	}
	putBack(data)
	if err != nil {
		return out, err
	}
	out.clock = readClock(out.snapshot.Clock, asked, answered)
	err = checkSource(out.snapshot, r.run, p.Pod)
	if err != nil || !out.snapshot.HasMeasured() {
		return out, err
	}
	if out.course = p.course; out.course == nil {
		// Without the course, everything else is still known.
		_ = s.get(ctx, r, p.Pod, plan.CoursePath, func(body io.Reader, _ string, _, _ time.Time) error {
			course, err := wire.ReadCourse(body)
			if err == nil && checkSource(course, r.run, p.Pod) == nil {
				out.course = course
			}
			return err
		})
	}
	if c := out.course; c != nil {
		out.snapshot.Course = c.Course
	}
	return out, nil
}

// buffers are used again: the answers of all pods would be most of the garbage.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// mostBuffered is the size of the largest buffer that is used again.
const mostBuffered = 1 << 20

func putBack(b *bytes.Buffer) {
	if b != nil && b.Cap() <= mostBuffered {
		b.Reset()
		buffers.Put(b)
	}
}

// decode waits for room.
func (s scraper) decode(data []byte) (*results.Snapshot, error) {
	s.decoding <- struct{}{}
	defer func() { <-s.decoding }()
	return wire.DecodeScrape(data)
}

// get reads one path of a pod.
func (s scraper) get(ctx context.Context, r round, p Pod, path string, read func(body io.Reader, contentType string, asked, answered time.Time) error) error {
	url := "http://" + net.JoinHostPort(p.IP, strconv.Itoa(s.port)) + path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", wire.ScrapeAccept)
	// Compressed, an answer would cost the pod, which measures, and the operator more than it spares the network.
	request.Header.Set("Accept-Encoding", "identity")
	asked := r.now()
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	answered := r.now()
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("scraping %s: %w, found %s", url, errStatus, response.Status)
	}
	select {
	case r.room <- struct{}{}:
		defer func() { <-r.room }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := read(response.Body, response.Header.Get("Content-Type"), asked, answered); err != nil {
		return fmt.Errorf("scraping %s: %w", url, err)
	}
	return nil
}

// checkSource: the address may by now belong to another pod of another run.
func checkSource(s *results.Snapshot, run types.UID, p Pod) error {
	if s.RunUID != string(run) || s.Index != p.Index {
		return fmt.Errorf("scraping %s: %w: wanted run %s, index %d; found run %s, index %d", p.Name, errOtherPod, run, p.Index, s.RunUID, s.Index)
	}
	return nil
}
