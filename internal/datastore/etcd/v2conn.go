package etcd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func init() {
	transports[spec.TransportV2] = func(d *Driver) transport { return &v2Transport{driver: d} }
}

// v2Transport is the transport over the v2 API of the run's own members. Its store is not that of the other requests of a run:
// the load's keys need no prefix there.
type v2Transport struct {
	driver *Driver

	mutex sync.Mutex
	links []*http1.Link
}

// v2Conn is one connection to the v2 API of one member. It carries one request at a time.
type v2Conn struct {
	driver   *Driver
	link     *http1.Link
	endpoint atomic.Pointer[string]
}

var _ load.SharedConn = (*v2Conn)(nil)

const v2Keys = "/v2/keys/"

// connect implements transport. A request opens the connection.
func (v *v2Transport) connect(ctx context.Context, _ int, endpoint string) (connection, error) {
	c := v.open()
	return c, c.move(ctx, endpoint)
}

// later implements transport.
func (v *v2Transport) later(_ int, endpoint string) (connection, error) {
	c := v.open()
	c.endpoint.Store(&endpoint)
	return c, nil
}

func (v *v2Transport) open() *v2Conn {
	c := &v2Conn{driver: v.driver, link: http1.Open(nil, 1, 0, &v.driver.requests, http.Header{})}
	if v.driver.weighs() {
		c.link.DialWith(v.driver.dialWeighed)
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.links = append(v.links, c.link)
	return c
}

// check implements checker.
func (v *v2Transport) check(ctx context.Context, endpoint string) error {
	_, err := v.connect(ctx, 0, endpoint)
	return err
}

// requests: the driver counts them.
func (v *v2Transport) requests() map[spec.RPC]map[results.Phase]uint64 { return nil }

func (v *v2Transport) close() error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	for _, l := range v.links {
		l.Close()
	}
	return nil
}

// move implements connection. Each address of the run's own members leads to one member.
func (c *v2Conn) move(ctx context.Context, endpoint string) error {
	err := repeat(ctx, func(ctx context.Context) error {
		_, err := c.exchange(ctx, endpoint, http1.Request{RPC: spec.RPCV2Get, Method: http.MethodGet, Path: v2Keys + "_"})
		return err
	})
	switch {
	case codeOf(err) == codes.Unimplemented:
		return c.driver.whyNoV2(ctx, endpoint)
	case err != nil && codeOf(err) != codes.NotFound:
		return c.driver.whyNotReady(ctx, endpoint, err)
	}
	c.endpoint.Store(&endpoint)
	return nil
}

// whyNoV2 explains that a member has no v2 API.
func (d *Driver) whyNoV2(ctx context.Context, endpoint string) error {
	version := d.version(ctx, endpoint)
	todo := `set spec.target.ephemeral.settings: {enable-v2: "true"}`
	if !strings.HasPrefix(version, "3.4.") && !strings.HasPrefix(version, "3.5.") {
		todo = "start members of etcd 3.4 or 3.5, and " + todo
	}
	return load.Errorf(results.FailureUnsupported, "%s, etcd %s, does not serve the v2 API, to which the transport V2 sends its requests: %s", endpoint, version, todo)
}

// v2Caller is a connection with the time limit of its client.
type v2Caller struct {
	*v2Conn
	limit *timeLimit
}

// Client implements load.SharedConn.
func (c *v2Conn) Client(context.Context, int) (load.Conn, error) {
	return &v2Caller{c, newTimeLimit()}, nil
}

// Do implements load.Conn.
func (c *v2Caller) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	c.carry(c.limit.begin(ctx, req.Timeout), req, resp)
	c.limit.finish(req, resp)
}

// Do implements load.Conn. Sent is just before net/http gets the request: the service time includes a dial after a loss.
func (c *v2Conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	c.carry(ctx, req, resp)
}

// carry sends a request that ends with ctx at the latest. A read of several keys has those of a directory: the key ends with its
// slash.
func (c *v2Conn) carry(ctx context.Context, req *load.Request, resp *load.Response) {
	r := http1.Request{RPC: spec.RPCV2Get, Method: http.MethodGet, Path: v2Keys + strings.TrimPrefix(string(req.Key), c.driver.plan.Prefix)}
	switch reads := req.Operation == spec.OperationRange; {
	case req.Operation == spec.OperationPut:
		r.RPC, r.Method, r.Header, r.Body = spec.RPCV2Put, http.MethodPut, ofForms, form(req.Value)
	case reads && len(req.End) > 0 && req.Consistency == spec.Serializable:
		r.Path += "?recursive=true&sorted=true"
	case reads && len(req.End) > 0:
		r.Path += "?recursive=true&sorted=true&quorum=true"
	case reads && req.Consistency != spec.Serializable:
		r.Path += "?quorum=true"
	case !reads:
		resp.Unknown(req.Operation)
		return
	}
	*resp = load.Response{Sent: load.Now()}
	answer, err := c.exchange(ctx, *c.endpoint.Load(), r)
	if missing := codeOf(err) == codes.NotFound; missing {
		answer, err = nil, nil
	}
	finish(resp, err)
	if err == nil && r.RPC == spec.RPCV2Get {
		// A quote in a value is escaped.
		miss(req, resp, int64(bytes.Count(answer, []byte(`"value":"`))))
	}
}

var ofForms = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}

// letters are those that need no escapes, neither in forms nor in JSON. The first one is that of the values of etcd's own
// benchmarks of this API.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// form is the body of a put. The API stores text, so each byte of a value becomes one letter.
func form(value []byte) []byte {
	const name = "value="
	body := append(make([]byte, 0, len(name)+len(value)), name...)
	for _, b := range value {
		body = append(body, letters[b%byte(len(letters))])
	}
	return body
}

// exchange returns the answer of a success.
func (c *v2Conn) exchange(ctx context.Context, endpoint string, r http1.Request) ([]byte, error) {
	statusCode, answer, err := c.driver.exchange(ctx, c.link, endpoint, r)
	if err == nil && statusCode != http.StatusOK && statusCode != http.StatusCreated {
		err = v2Refusal(statusCode, answer)
	}
	return answer, err
}

// codesOfV2 are the codes of errors by the numbers of the API: a key that does not exist, and an election.
var codesOfV2 = map[int]codes.Code{100: codes.NotFound, 301: codes.Unavailable}

// v2Refusal is the error in an answer. The cause of many is the error that gRPC would have.
func v2Refusal(statusCode int, answer []byte) error {
	var of struct {
		ErrorCode      int
		Message, Cause string
	}
	if json.Unmarshal(answer, &of) != nil || of.ErrorCode == 0 {
		return refusal(statusCode, answer)
	}
	code := codeOf(rpctypes.Error(status.Error(codes.Unknown, of.Cause)))
	return status.Error(cmp.Or(codesOfV2[of.ErrorCode], code), of.Message+": "+of.Cause)
}
