package zookeeper

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

var (
	errNotServing   = errors.New("the server does not serve requests")
	errNotZooKeeper = errors.New("found no ZooKeeper version in the answer")
)

// notServing is in the answer of a server without a quorum.
const notServing = "not currently serving requests"

// health is a server's report of itself.
type health struct {
	version string
	// leads: it is the leader of an ensemble, or a standalone server.
	leads bool
	// epoch counts elections.
	epoch uint64
}

// healthOf requests a server's health by srvr, the only command that is always allowed.
func (d *Driver) healthOf(ctx context.Context, endpoint string) (health, error) {
	d.requests.Add(spec.RPCServer, load.PhaseOf(ctx))
	answer, err := d.command(ctx, endpoint, "srvr")
	switch {
	case d.plan.Target.TLS != nil && errors.Is(hungUp(err), errHungUp):
		return health{}, secrets.ErrServesPlain
	case d.plan.Target.TLS == nil && err != nil && servesTLS(ctx, endpoint):
		// It waits for the rest of a handshake.
		return health{}, secrets.ErrServesTLS
	case err != nil:
		return health{}, err
	}
	return readHealth(answer)
}

// servesTLS reports whether an address takes part in a handshake. Nothing else is sent to it.
func servesTLS(ctx context.Context, endpoint string) bool {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", endpoint)
	if err == nil {
		return c.Close() == nil
	}
	// An alert of the server: it wants a client certificate.
	alert, ok := errors.AsType[*net.OpError](err)
	return ok && alert.Op == "remote error"
}

// readHealth reads the answer to srvr.
func readHealth(answer string) (h health, err error) {
	for line := range strings.Lines(answer) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "Zookeeper version":
			h.version, _, _ = strings.Cut(value, "-")
			h.version, _, _ = strings.Cut(h.version, ",")
		case "Mode":
			h.leads = value == "leader" || value == "standalone"
		case "Zxid":
			zxid, err := strconv.ParseUint(value, 0, 64)
			if err != nil {
				return health{}, fmt.Errorf("the answer to srvr has the Zxid %q: wanted a number", value)
			}
			h.epoch = zxid >> 32
		}
	}
	switch {
	case h.version != "":
		return h, nil
	case strings.Contains(answer, notServing):
		return health{}, errNotServing
	}
	return health{}, errNotZooKeeper
}

const (
	commandTimeout = 5 * time.Second
	// mostAnswer is how many bytes of a response are read: mntr has several hundred for each child of the root.
	mostAnswer = 4 << 20
)

// command sends a four-letter command and returns the response.
func (d *Driver) command(ctx context.Context, endpoint, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c, err := d.connect(ctx, endpoint)
	if err != nil {
		return "", err
	}
	defer c.Close()
	// A deadline in the past ends reads and writes when the context ends.
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c, name); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(c, mostAnswer))
	return string(answer), err
}

// adminPort is the default port of AdminServer.
const adminPort = "8080"

// mostConnections returns a server's maxClientCnxns: how many connections it accepts from one address. 0 is no limit;
// known is false if the server does not report it.
func (d *Driver) mostConnections(ctx context.Context, endpoint string) (most int, known bool) {
	answer, err := d.command(ctx, endpoint, "conf")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(answer) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "maxClientCnxns="); ok {
			most, err := strconv.Atoi(value)
			return most, err == nil
		}
	}
	var found struct {
		Most *int `json:"max_client_cnxns"`
	}
	if !d.askAdmin(ctx, endpoint, "configuration", &found) || found.Most == nil {
		return 0, false
	}
	return *found.Most, true
}

// askAdmin reads what AdminServer answers to a command, over TLS if it does not answer otherwise.
func (d *Driver) askAdmin(ctx context.Context, endpoint, command string, into any) (answers bool) {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	url := "://" + net.JoinHostPort(host, adminPort) + "/commands/" + command
	if getJSON(ctx, "http"+url, nil, into) {
		return true
	}
	creds, err := d.credentials()
	return err == nil && creds.TLS != nil && getJSON(ctx, "https"+url, creds.TLS.Config, into)
}

func getJSON(ctx context.Context, url string, config *tls.Config, into any) bool {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	if config != nil {
		// AdminServer compares it with the name in the handshake.
		request.Host = config.ServerName
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: config.Clone()},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return json.NewDecoder(io.LimitReader(response.Body, mostAnswer)).Decode(into) == nil
}
