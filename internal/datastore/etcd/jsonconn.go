package etcd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

func init() {
	transports[spec.TransportJSON] = func(d *Driver) transport {
		return jsonTransport{&clientTransport{driver: d, dial: d.dialGateway, open: d.openGateway}}
	}
}

// jsonTransport is the transport over the gRPC gateways of the members. It differs from clientTransport only in how
// clientv3 sends a request.
type jsonTransport struct{ *clientTransport }

// check implements checker.
func (j jsonTransport) check(ctx context.Context, endpoint string) error {
	client, err := j.dial(ctx, endpoint)
	if err != nil {
		return err
	}
	return closeClient(client)
}

// gateway is one connection to the gRPC gateway of one member, with HTTP/1.1 and JSON. It carries one request at a time.
type gateway struct {
	sender
	link    *http1.Link
	address string
}

var _ grpc.ClientConnInterface = (*gateway)(nil)

// openGateway returns a client of one address whose calls of the KV service go to the gateway there. It connects with the
// first of them.
func (d *Driver) openGateway(endpoint string) (*clientv3.Client, error) {
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	g := &gateway{
		sender:  sender{driver: d, noting: &answerer{all: &d.answerers, address: endpoint}, counted: true},
		link:    http1.Open(creds.tls, 1, 0, &d.requests, ofJSON),
		address: endpoint,
	}
	if d.weighs() {
		g.link.DialWith(d.dialWeighed)
	}
	if creds.username != "" {
		g.tokens = d.tokens()
	}
	client := clientv3.NewCtxClient(context.Background())
	client.KV = clientv3.NewKVFromKVClient(etcdserverpb.NewKVClient(g), client)
	context.AfterFunc(client.Ctx(), g.link.Close)
	return client, nil
}

// dialGateway also sends a request to open the connection.
func (d *Driver) dialGateway(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	client, err := d.openGateway(endpoint)
	if err != nil {
		return nil, err
	}
	if err := d.firstToken(ctx, creds, endpoint); err != nil {
		return nil, errors.Join(err, closeClient(client))
	}
	bounded, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if _, err := get(bounded, client, d.run.Marker(), clientv3.WithSerializable(), clientv3.WithCountOnly()); err != nil {
		return nil, errors.Join(d.whyNoGateway(ctx, endpoint, creds, err), closeClient(client))
	}
	return client, nil
}

// whyNoGateway explains an error of the first request.
func (d *Driver) whyNoGateway(ctx context.Context, endpoint string, creds *credentials, err error) error {
	switch {
	case codeOf(err) == codes.Unimplemented:
		return load.Errorf(results.FailureUnsupported,
			"%s has no gRPC gateway, to which the transport JSON sends its requests: remove --enable-grpc-gateway=false from etcd's flags, or set spec.load.transport: Client", endpoint)
	case strings.Contains(err.Error(), "CommonName") && creds.certificates != nil && creds.certificates.Client != nil:
		client := creds.certificates.Client
		return load.Errorf(results.FailureAuthenticationFailed,
			"the gRPC gateway of %s refuses every request with a client certificate that has a common name (%s: "+
				"%.100q), because authentication is enabled: use a certificate without one and set "+
				"spec.target.auth, or set spec.load.transport: Client",
			endpoint, client.Name, client.Subject.CommonName)
	}
	return d.whyNotReady(ctx, endpoint, err)
}

// Invoke implements grpc.ClientConnInterface.
func (g *gateway) Invoke(ctx context.Context, method string, request, reply any, _ ...grpc.CallOption) error {
	return g.send(ctx, method, request, reply, nil, g.post)
}

// NewStream implements grpc.ClientConnInterface.
func (g *gateway) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "the transport JSON carries no streams")
}

var ofJSON = http.Header{"Content-Type": {"application/json"}}

// post sends one call to the gateway, once. Its errors have the codes of the call.
func (g *gateway) post(ctx context.Context, method string, request, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
	body, err := encode(request.(proto.Message))
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	name := path.Base(method)
	r := http1.Request{RPC: spec.RPC(name), Method: http.MethodPost, Path: "/v3/kv/" + strings.ToLower(name), Body: body}
	if md, _ := metadata.FromOutgoingContext(ctx); len(md.Get(rpctypes.TokenFieldNameGRPC)) > 0 {
		r.Header = ofJSON.Clone()
		r.Header.Set("Authorization", md.Get(rpctypes.TokenFieldNameGRPC)[0])
	}
	statusCode, answer, err := g.driver.exchange(ctx, g.link, g.address, r)
	if err != nil {
		return err
	}
	if statusCode != http.StatusOK {
		return refusal(statusCode, answer)
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(answer, reply.(proto.Message)); err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return nil
}

// encode writes a request as the gateway reads it. protojson varies its spaces from build to build; without them, equal
// requests have equal lengths.
func encode(request proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(request)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Compact(&out, data)
	return out.Bytes(), err
}

// exchange sends a request over HTTP, and counts the bodies, but not a part of one. Its errors are those of a connection that
// failed.
func (d *Driver) exchange(ctx context.Context, link *http1.Link, address string, r http1.Request) (statusCode int, answer []byte, err error) {
	statusCode, answer, err = link.Send(ctx, address, r)
	if err != nil {
		answer = nil
	}
	d.bodies.Add(load.PhaseOf(ctx), len(r.Body), len(answer))
	switch {
	case err != nil && ctx.Err() != nil:
		err = status.FromContextError(ctx.Err()).Err()
	case err != nil:
		err = status.Error(codes.Unavailable, err.Error())
	}
	return statusCode, answer, err
}

// codesOfHTTP are the codes of answers that are not from the gateway, as gRPC's own clients translate them.
var codesOfHTTP = map[int]codes.Code{
	http.StatusUnauthorized: codes.Unauthenticated, http.StatusForbidden: codes.PermissionDenied, http.StatusNotFound: codes.Unimplemented,
	http.StatusTooManyRequests: codes.Unavailable, http.StatusBadGateway: codes.Unavailable,
	http.StatusServiceUnavailable: codes.Unavailable, http.StatusGatewayTimeout: codes.Unavailable,
}

// refusal is the error in an answer: the one of the call if the gateway wrote it.
func refusal(statusCode int, answer []byte) error {
	var of struct {
		Code    codes.Code
		Message string
	}
	if json.Unmarshal(answer, &of) == nil && of.Code != codes.OK {
		return status.Error(of.Code, of.Message)
	}
	return status.Errorf(cmp.Or(codesOfHTTP[statusCode], codes.Unknown), "HTTP %d: %s", statusCode, text.Shorten(strings.TrimSpace(string(answer)), 200))
}
