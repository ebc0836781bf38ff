package http1

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Of a body that breaks off, only what was received is returned.
func TestAPartOfABodyIsNotLongerThanReceived(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("0123456789"))
	}))
	defer server.Close()
	l := Open(nil, 1, 0, &load.RequestCounter{}, http.Header{})
	defer l.Close()
	_, body, err := l.Send(t.Context(), strings.TrimPrefix(server.URL, "http://"), Request{Method: http.MethodGet, Path: "/"})
	if err == nil || string(body) != "0123456789" {
		t.Errorf("got %d bytes and %v, wanted 10 and an error", len(body), err)
	}
}

// A dial, or a handshake, that hangs ends with its request: the next request dials at once.
func TestADialEndsWithItsRequest(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var dialer net.Dialer
	hangs := map[string]func(ctx context.Context) (net.Conn, error){
		"the dial": func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"the response": func(ctx context.Context) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", silent.Addr().String())
		},
	}
	for name, first := range hangs {
		t.Run(name, func(t *testing.T) {
			l, dials := Open(nil, 1, 0, &load.RequestCounter{}, http.Header{}), 0
			defer l.Close()
			l.DialWith(func(ctx context.Context, address string) (net.Conn, error) {
				if dials++; dials == 1 {
					return first(ctx)
				}
				return dialer.DialContext(ctx, "tcp", address)
			})
			send := func(atMost time.Duration) (int, error) {
				ctx, cancel := context.WithTimeout(t.Context(), atMost)
				defer cancel()
				status, _, err := l.Send(ctx, strings.TrimPrefix(server.URL, "http://"), Request{Method: http.MethodGet, Path: "/"})
				return status, err
			}
			if _, err := send(50 * time.Millisecond); err == nil {
				t.Error("the first request succeeded")
			}
			for range 2 {
				if status, err := send(20 * time.Second); err != nil || status != http.StatusNotFound {
					t.Errorf("the next request: %d, %v", status, err)
				}
			}
			if dials != 2 {
				t.Errorf("%d connections were dialed, wanted 2", dials)
			}
		})
	}
}
