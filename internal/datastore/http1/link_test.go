package http1

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
