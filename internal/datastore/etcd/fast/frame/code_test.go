package frame_test

import (
	"math"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// A server may send any code, even one that is negative as an int of 32 bits.
func TestErrorCodeNames(t *testing.T) {
	for code, want := range map[frame.ErrorCode]string{
		frame.NoError: "NO_ERROR", frame.HTTP11Required: "HTTP_1_1_REQUIRED",
		frame.HTTP11Required + 1: "error code 14", math.MaxUint32: "error code 4294967295",
	} {
		if got := code.String(); got != want {
			t.Errorf("%d is %q, want %q", uint32(code), got, want)
		}
	}
}
