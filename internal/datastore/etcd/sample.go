package etcd

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	residentMemory = "process_resident_memory_bytes "
	// maxScrapeBytes bounds what is read of a member's metrics: twenty times
	// what one has.
	maxScrapeBytes = 4 << 20
)

// Sample implements load.Driver.
func (d *Driver) Sample(ctx context.Context) map[string]int64 {
	d.mutex.Lock()
	members := d.topology.members
	d.mutex.Unlock()
	out := map[string]int64{}
	var mutex sync.Mutex
	var sampling sync.WaitGroup
	for _, m := range members {
		sampling.Go(func() {
			if bytes, ok := d.memoryOf(ctx, m.endpoint); ok {
				mutex.Lock()
				defer mutex.Unlock()
				out[hexID(m.id)] = bytes
			}
		})
	}
	sampling.Wait()
	return out
}

// memoryOf reads a member's metrics, which etcd serves at its client address.
func (d *Driver) memoryOf(ctx context.Context, endpoint string) (bytes int64, ok bool) {
	creds, err := d.secrets()
	if err != nil {
		return 0, false
	}
	transport := &http.Transport{TLSClientConfig: creds.tls.Clone(), DisableKeepAlives: true}
	url := urls([]string{endpoint}, creds.tls != nil)[0] + "/metrics"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, false
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, false
	}
	defer response.Body.Close()
	return readMemory(io.LimitReader(response.Body, maxScrapeBytes))
}

func readMemory(metrics io.Reader) (bytes int64, ok bool) {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		text, found := strings.CutPrefix(lines.Text(), residentMemory)
		if !found {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		return int64(value), err == nil && value > 0
	}
	return 0, false
}
