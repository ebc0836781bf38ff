package collector

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// scrapeTimeout bounds one scrape; a pod under full load answers late.
	scrapeTimeout = 3 * time.Second
	// parallelScrapes bounds how many pods of one run are scraped at a time.
	parallelScrapes = 16
)

// scraper reads pods' metrics. What it reads is untrusted: it follows no
// redirect, uses no proxy and bounds time and size.
type scraper struct {
	client *http.Client
	port   int
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
		port: port,
		client: &http.Client{
			Transport:     transport,
			Timeout:       scrapeTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// scrapeAll returns the answers of the pods that answered rightly, by name.
// Why one did not is of no use to anybody: it is tried again in a second, and
// its absence is reported.
func (s scraper) scrapeAll(ctx context.Context, run types.UID, pods []Pod, now func() time.Time) map[string]answer {
	var (
		mu      sync.Mutex
		busy    sync.WaitGroup
		room    = make(chan struct{}, parallelScrapes)
		answers = make(map[string]answer, len(pods))
	)
	for _, p := range pods {
		room <- struct{}{}
		busy.Go(func() {
			defer func() { <-room }()
			asked := now()
			if snapshot, err := s.scrape(ctx, run, p); err == nil {
				read := answer{snapshot, readClock(snapshot.Clock, asked, now())}
				mu.Lock()
				defer mu.Unlock()
				answers[p.Name] = read
			}
		})
	}
	busy.Wait()
	return answers
}

func (s scraper) scrape(ctx context.Context, run types.UID, p Pod) (*results.Snapshot, error) {
	url := "http://" + net.JoinHostPort(p.IP, strconv.Itoa(s.port)) + plan.MetricsPath
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", results.ScrapeAccept)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("scraping %s: wanted status 200, found %s", url, response.Status)
	}
	snapshot, err := results.Read(response.Body, response.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("scraping %s: %w", url, err)
	}
	return snapshot, checkSource(snapshot, run, p)
}

// checkSource: an address may by now be another pod's, of another run.
func checkSource(s *results.Snapshot, run types.UID, p Pod) error {
	if s.RunUID != string(run) || s.Index != p.Index {
		return fmt.Errorf("scraping %s: wanted run %s, index %d; found run %s, index %d", p.Name, run, p.Index, s.RunUID, s.Index)
	}
	return nil
}
