package collector

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// crowd is a set of pods that answer only when all of them have been requested. It counts how many of their answers are
// read at a time.
type crowd struct {
	t   *testing.T
	all sync.WaitGroup

	lock               sync.Mutex
	reading, mostReads int
	// more lets the reads go on.
	more chan struct{}
}

func (c *crowd) RoundTrip(request *http.Request) (*http.Response, error) {
	var index int
	if _, err := fmt.Sscanf(request.URL.Hostname(), "198.18.0.%d", &index); err != nil {
		c.t.Error(err)
	}
	c.all.Done()
	asked := make(chan struct{})
	go func() { c.all.Wait(); close(asked) }()
	select {
	case <-asked:
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
	recorder := httptest.NewRecorder()
	metrics(snapshot(index, results.StageReady)).ServeHTTP(recorder, request)
	response := recorder.Result()
	response.Body = &countedBody{crowd: c, Reader: bytes.NewReader(recorder.Body.Bytes())}
	return response, nil
}

func (c *crowd) reads(more int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.reading += more
	c.mostReads = max(c.mostReads, c.reading)
}

// countedBody counts as being read from its first Read until it is closed.
type countedBody struct {
	io.Reader
	crowd *crowd
	begun sync.Once
}

func (b *countedBody) Read(p []byte) (int, error) {
	b.begun.Do(func() { b.crowd.reads(1) })
	<-b.crowd.more
	return b.Reader.Read(p)
}

func (b *countedBody) Close() error {
	b.begun.Do(func() { b.crowd.reads(1) })
	b.crowd.reads(-1)
	return nil
}

// TestAllPodsAreScrapedAtOnce: hung pods must not delay the scrapes of live pods; otherwise a restarted operator would
// take those for hung too. Few answers are read at a time, to bound the memory.
func TestAllPodsAreScrapedAtOnce(t *testing.T) {
	const most = 100
	synctest.Test(t, func(t *testing.T) {
		pods := &crowd{t: t, more: make(chan struct{})}
		pods.all.Add(most)
		c := New(pods)
		c.scraper.client.Timeout = 20 * time.Second
		var all []target
		for i := range most {
			all = append(all, target{Pod: Pod{Name: fmt.Sprint(i), Index: i, IP: fmt.Sprintf("198.18.0.%d", i)}})
		}
		var got map[string]answer
		go func() { got, _ = c.scraper.scrapeAll(t.Context(), round{run: uid, now: time.Now}, all) }()
		synctest.Wait()
		if pods.mostReads != parallelReads {
			t.Errorf("%d answers are read at a time, wanted %d", pods.mostReads, parallelReads)
		}
		close(pods.more)
		synctest.Wait()
		if len(got) != most || pods.mostReads > parallelReads {
			t.Errorf("%d of %d pods answered, %d of them at a time", len(got), most, pods.mostReads)
		}
	})
}

// TestPodsAreRequestedInTurn: those that answered do not wait for silent ones, and none waits long for slow ones.
func TestPodsAreRequestedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lock sync.Mutex
		asked := map[string]int{}
		slow := make(chan struct{})
		c := New(roundTripper(func(request *http.Request) (*http.Response, error) {
			lock.Lock()
			asked[request.URL.Hostname()]++
			lock.Unlock()
			<-slow
			return nil, errStatus
		}))
		var all []target
		for range 10 * parallelRequests {
			all = append(all, target{Pod: Pod{IP: "198.18.0.1"}, answered: true}, target{Pod: Pod{IP: "198.18.0.2"}})
		}
		go func() { _, _ = c.scraper.scrapeAll(t.Context(), round{run: uid, now: time.Now}, all) }()
		synctest.Wait()
		for turns := range 3 {
			wanted := map[string]int{"198.18.0.1": (turns + 1) * parallelRequests, "198.18.0.2": min((turns+1)*parallelSilent, 10*parallelRequests)}
			if !maps.Equal(asked, wanted) {
				t.Errorf("wanted as many requests after %d turns: %v, found %v", turns, wanted, asked)
			}
			time.Sleep(turn)
			synctest.Wait()
		}
		close(slow)
		synctest.Wait()
		if asked["198.18.0.1"] != 10*parallelRequests || asked["198.18.0.2"] != 10*parallelRequests {
			t.Errorf("wanted all pods to be requested, found %v", asked)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestFewAnswersAreDecodedAtATime: of all runs together, to bound the memory.
func TestFewAnswersAreDecodedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := &crowd{t: t, more: make(chan struct{})}
		pods.all.Add(1)
		close(pods.more)
		c := New(pods)
		c.scraper.client.Timeout = 20 * time.Second
		for range parallelDecodes {
			c.scraper.decoding <- struct{}{}
		}
		var got map[string]answer
		go func() {
			got, _ = c.scraper.scrapeAll(t.Context(), round{run: uid, now: time.Now}, []target{{Pod: Pod{Name: "p", IP: "198.18.0.0"}}})
		}()
		synctest.Wait()
		if got != nil {
			t.Errorf("wanted the answer to wait, found %v", got)
		}
		<-c.scraper.decoding
		synctest.Wait()
		if len(got) != 1 || len(c.scraper.decoding) != parallelDecodes-1 {
			t.Errorf("wanted the answer and its room back, found %v and %d", got, len(c.scraper.decoding))
		}
	})
}
