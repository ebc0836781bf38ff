package etcd

import (
	"context"
	"errors"
	"path"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/login"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// sender sends the requests of a clientv3 client. It counts them, adds the token, and notes who answers the load.
type sender struct {
	driver *Driver
	// tokens is nil without a user.
	tokens *login.Tokens
	noting *answerer
	// counted: what carries the requests counts them.
	counted bool
}

// send counts every attempt to send a request. It sends a request again if its token was refused.
func (s sender) send(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	var refusals login.Refusals
	phase := load.PhaseOf(ctx)
	for {
		if !s.counted {
			s.driver.requests.Add(spec.RPC(path.Base(method)), phase)
		}
		token := s.tokens.Current()
		err := invoke(withToken(ctx, token), method, req, reply, cc, opts...)
		if err == nil {
			if phase != results.PhaseControl {
				s.noting.saw(reply)
			}
			return nil
		}
		found, _ := status.FromError(err)
		if !login.IsRefusal(found.Code(), found.Message()) {
			return named(method, err)
		}
		pause, again := s.tokens.Again(&refusals, token)
		if !again || load.Pause(ctx, pause) != nil {
			return err
		}
	}
}

// withToken returns a context whose requests carry the token.
func withToken(ctx context.Context, token string) context.Context {
	if token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, token)
}

// logIn requests a token over a connection of its own. The token is empty if the target has authentication disabled.
func (d *Driver) logIn(ctx context.Context) (string, error) {
	creds, err := d.secrets()
	if err != nil {
		return "", err
	}
	serving, err := d.serving(ctx)
	if err != nil {
		return "", err
	}
	client, err := d.dialAs(ctx, &credentials{tls: creds.tls}, serving...)
	if err != nil {
		return "", err
	}
	defer client.Close()
	response, err := client.Authenticate(ctx, creds.username, creds.password)
	switch {
	case errors.Is(err, rpctypes.ErrAuthNotEnabled):
		return "", nil
	case err != nil:
		return "", err
	}
	return response.Token, nil
}
