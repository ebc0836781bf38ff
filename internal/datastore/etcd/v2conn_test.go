package etcd

import (
	"testing"

	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// A refused request over the v2 API has the code that the error has over gRPC, and the member's words.
func TestRefusalsOverV2HaveTheCodesOfGRPC(t *testing.T) {
	for name, tc := range map[string]struct {
		status             int
		body, code, detail string
	}{
		"a missing key":     {404, `{"errorCode":100,"message":"Key not found","cause":"/a","index":3}`, load.CodeNotFound, "Key not found: /a"},
		"no majority":       {500, `{"errorCode":300,"message":"Raft Internal Error","cause":"etcdserver: request timed out","index":3}`, load.CodeUnavailable, "Raft Internal Error: etcdserver: request timed out"},
		"too many requests": {500, `{"errorCode":300,"message":"Raft Internal Error","cause":"etcdserver: too many requests","index":3}`, "ResourceExhausted", "Raft Internal Error: etcdserver: too many requests"},
		"an election":       {503, `{"errorCode":301,"message":"During Leader Election","cause":"","index":3}`, load.CodeUnavailable, "During Leader Election: "},
		"a directory":       {403, `{"errorCode":102,"message":"Not a file","cause":"/a","index":3}`, "Unknown", "Not a file: /a"},
		"no v2 API":         {404, "404 page not found\n", load.CodeUnimplemented, "HTTP 404: 404 page not found"},
		"a proxy":           {502, "bad gateway", load.CodeUnavailable, "HTTP 502: bad gateway"},
	} {
		got := status.Convert(v2Refusal(tc.status, []byte(tc.body)))
		if got.Code().String() != tc.code || got.Message() != tc.detail {
			t.Errorf("%s: got %s, %q; wanted %s, %q", name, got.Code(), got.Message(), tc.code, tc.detail)
		}
	}
}
