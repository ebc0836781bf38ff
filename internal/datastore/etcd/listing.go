package etcd

import (
	"context"
	"errors"
	"io"
	"math"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// doRange reads, in one response or several.
func doRange(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	s := &d.settings
	var read func(context.Context, *clientv3.Client, *load.Request) (int64, error)
	switch {
	case s.stream:
		read = s.readStream
	case s.pageKeys > 0:
		read = s.readPages
	default:
		readOne.do(ctx, d, client, req, resp)
		return
	}
	resp.Sent = load.Now()
	found, err := read(ctx, client, req)
	finish(resp, err)
	if err == nil {
		miss(req, resp, found)
	}
}

// readPages reads page by page and returns the number of keys. All pages are read at the revision of the first one, so
// that they show one state of the store. Each page begins after the last key of the page before.
func (s *settings) readPages(ctx context.Context, client *clientv3.Client, req *load.Request) (found int64, err error) {
	options := append(s.readOptions(req), clientv3.WithLimit(s.pageKeys))
	for from := string(req.Key); ; {
		page, err := client.Get(ctx, from, options...)
		if err != nil {
			return 0, err
		}
		found += int64(len(page.Kvs))
		if !page.More || len(page.Kvs) == 0 {
			return found, nil
		}
		if from == string(req.Key) {
			options = append(options, clientv3.WithRev(page.Header.Revision))
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

// readStream reads the response of one RangeStream and returns the number of keys.
func (s *settings) readStream(ctx context.Context, client *clientv3.Client, req *load.Request) (found int64, err error) {
	stream, err := openRangeStream(ctx, client, &etcdserverpb.RangeRequest{
		Key: req.Key, RangeEnd: req.End, KeysOnly: s.KeysOnly, Serializable: req.Consistency == spec.Serializable,
	})
	for err == nil {
		var part *etcdserverpb.RangeStreamResponse
		if part, err = stream.Recv(); err == nil {
			found += int64(len(part.RangeResponse.GetKvs()))
		}
	}
	if errors.Is(err, io.EOF) {
		return found, nil
	}
	return 0, err
}

// openRangeStream calls below clientv3, which would pass each part through a channel and a goroutine. etcd bounds the
// parts by its own request limit, not by gRPC's default of 4 MiB.
func openRangeStream(ctx context.Context, client *clientv3.Client, request *etcdserverpb.RangeRequest) (etcdserverpb.KV_RangeStreamClient, error) {
	return etcdserverpb.NewKVClient(client.ActiveConnection()).RangeStream(ctx, request, grpc.MaxCallRecvMsgSize(math.MaxInt32))
}

// checker is a transport that some members do not serve.
type checker interface {
	// check returns why the load cannot be sent to an address.
	check(ctx context.Context, endpoint string) error
}

// checkSupport checks that the member behind each address serves the transport, and RangeStream if the load uses it. The
// version does not show this: a proxy in front of the member may lack the call.
func (d *Driver) checkSupport(ctx context.Context) error {
	limited, isLimited := d.transport.(checker)
	for _, endpoint := range d.loaded() {
		if isLimited {
			if err := limited.check(ctx, endpoint); err != nil {
				return err
			}
		}
		if !d.settings.stream {
			continue
		}
		err := repeat(ctx, func(ctx context.Context) error { return d.tryStream(ctx, endpoint) })
		if codeOf(err) == codes.Unimplemented {
			return load.Errorf(results.FailureUnsupported,
				"%s does not serve RangeStream: it needs etcd 3.7 or newer, without a gRPC proxy. Set range.delivery to Pages or Whole, or name members that serve it",
				endpoint)
		}
		if err != nil {
			return explain(err, endpoint)
		}
	}
	return nil
}

// tryStream reads the run's marker by a stream. The marker need not exist.
func (d *Driver) tryStream(ctx context.Context, endpoint string) error {
	client, err := d.dial(ctx, endpoint)
	if err != nil {
		return err
	}
	_, err = d.settings.readStream(ctx, client, &load.Request{Key: []byte(d.run.Marker()), Consistency: spec.Serializable})
	return errors.Join(err, closeClient(client))
}
