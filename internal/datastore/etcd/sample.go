package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Sample implements load.Driver.
func (d *Driver) Sample(ctx context.Context) map[string]members.Sample {
	all := d.members()
	return ofEach(all, func(m member) (members.Sample, bool) { return d.sample(ctx, m, all), true })
}

// members are the members behind the plan's addresses; one with several addresses is in it several times.
func (d *Driver) members() []member {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.topology.members
}

// ofEach asks each member once, all at the same time. It returns the answers by ID; members without an answer are
// missing.
func ofEach[T any](all []member, ask func(member) (T, bool)) map[string]T {
	out := map[string]T{}
	var mutex sync.Mutex
	var asking sync.WaitGroup
	for _, m := range distinct(all) {
		asking.Go(func() {
			answer, ok := ask(m)
			if !ok {
				return
			}
			mutex.Lock()
			defer mutex.Unlock()
			out[hexID(m.id)] = answer
		})
	}
	asking.Wait()
	return out
}

// distinct returns each member once, at the first of its addresses.
func distinct(all []member) []member {
	var out []member
	seen := map[uint64]bool{}
	for _, m := range all {
		if !seen[m.id] {
			seen[m.id] = true
			out = append(out, m)
		}
	}
	return out
}

// sample reads the metrics of one member.
func (d *Driver) sample(ctx context.Context, m member, all []member) members.Sample {
	e, at, problem := d.read(ctx, m, all)
	if e == nil {
		return members.Sample{Problem: problem}
	}
	s := metrics.Sample(e, at)
	s.Problem = problem
	return s
}

// read reads the metrics of a member, or why they are not known, or not those of this member alone.
func (d *Driver) read(ctx context.Context, m member, all []member) (e exposition.Page, at time.Time, problem string) {
	text, at, err := d.scrape(ctx, m.endpoint)
	if err != nil {
		return nil, at, fmt.Sprintf("%s at %s: %v", results.UnreadMetrics, m.endpoint, err)
	}
	e, err = metrics.Parse(text)
	if err != nil {
		return nil, at, fmt.Sprintf("its metrics at %s could not be understood: %v", m.endpoint, err)
	}
	return e, at, problemOf(e, m, all)
}

// scrape reads a member's metrics, which etcd serves at its client address by default. at is when the member had
// collected them.
func (d *Driver) scrape(ctx context.Context, endpoint string) (text []byte, at time.Time, err error) {
	return d.fetch(ctx, endpoint, "/metrics")
}

// fetch reads what a member serves over HTTP at its client address.
func (d *Driver) fetch(ctx context.Context, endpoint, path string) (text []byte, at time.Time, err error) {
	creds, err := d.secrets()
	if err != nil {
		return nil, at, err
	}
	// Compression would cost the member more than the network saves.
	transport := &http.Transport{TLSClientConfig: creds.tls.Clone(), DisableKeepAlives: true, DisableCompression: true}
	url := urls([]string{endpoint}, creds.tls != nil)[0] + path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, at, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, at, explainScrape(err)
	}
	defer response.Body.Close()
	at = time.Now()
	if response.StatusCode != http.StatusOK {
		return nil, at, fmt.Errorf("found the status %s, wanted 200; %s", response.Status, scrapeHint)
	}
	text, err = io.ReadAll(io.LimitReader(response.Body, exposition.MaxBytes+1))
	if err == nil && len(text) > exposition.MaxBytes {
		err = fmt.Errorf("wanted at most %d bytes, found more", exposition.MaxBytes)
	}
	return text, at, err
}

const scrapeHint = "check whether etcd serves them at another address (--listen-metrics-urls, --listen-client-http-urls)"

// explainScrape recognizes an address that speaks only gRPC by its first bytes, which are not HTTP/1. net/http reports
// them in two ways: as a malformed response, or, if they come before the request, as a failed read.
func explainScrape(err error) error {
	for _, sign := range []string{"malformed HTTP response", "readLoopPeekFailLocked: %!w(<nil>)"} {
		if strings.Contains(err.Error(), sign) {
			return errors.New("found only gRPC, no HTTP/1; " + scrapeHint)
		}
	}
	return err
}

// problemOf returns why the metrics are not those of this member alone.
func problemOf(e exposition.Page, m member, all []member) string {
	ids := serverIDs(e)
	switch {
	case len(ids) == 0:
		return fmt.Sprintf("the metrics at %s are not the metrics of an etcd member: found no %s", m.endpoint, metricServerID)
	case !ids[hexID(m.id)]:
		return fmt.Sprintf("%s leads to the metrics of another member: name an address that leads only to this member", m.endpoint)
	}
	for _, other := range all {
		if other.id != m.id && ids[hexID(other.id)] {
			return "its process also runs other members of the target, and their metrics cannot be told apart"
		}
	}
	return ""
}

// serverIDs returns the members that run in the process, in hexadecimal.
func serverIDs(e exposition.Page) map[string]bool {
	ids := map[string]bool{}
	for _, m := range e[metricServerID].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "server_id" {
				ids[strings.ToLower(l.GetValue())] = true
			}
		}
	}
	return ids
}
