package unary

import (
	"slices"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// Code is a gRPC status code.
type Code uint8

// The status codes of gRPC.
const (
	OK Code = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

var codeNames = [...]string{
	"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
	"PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented",
	"Internal", "Unavailable", "DataLoss", "Unauthenticated",
}

// String returns the code's name as grpc-go writes it.
func (c Code) String() string { return codeNames[c] }

// CodeOf returns the code with a name, Unknown if there is none.
func CodeOf(name string) Code {
	if i := slices.Index(codeNames[:], name); i >= 0 {
		return Code(i)
	}
	return Unknown
}

// parseCode reads the value of grpc-status. A code that gRPC does not define is Unknown.
func parseCode(s string) (Code, bool) {
	if s == "0" {
		return OK, true
	}
	n, err := strconv.ParseUint(s, 10, 31)
	switch {
	case err != nil:
		return Unknown, false
	case n >= uint64(len(codeNames)):
		return Unknown, true
	}
	return Code(n), true
}

// codeOfHTTP maps an HTTP status to a code if there is no grpc-status, as gRPC's protocol defines.
func codeOfHTTP(status string) Code {
	switch status {
	case "400":
		return Internal
	case "401":
		return Unauthenticated
	case "403":
		return PermissionDenied
	case "404":
		return Unimplemented
	case "429", "502", "503", "504":
		return Unavailable
	}
	return Unknown
}

// codeOfReset maps the code of a RST_STREAM, as gRPC's protocol defines.
func codeOfReset(code frame.ErrorCode) Code {
	switch code {
	case frame.RefusedStream:
		return Unavailable
	case frame.Cancel:
		return Canceled
	case frame.EnhanceYourCalm:
		return ResourceExhausted
	case frame.InadequateSecurity:
		return PermissionDenied
	}
	return Internal
}

// decodePercent decodes grpc-message. Invalid sequences stay as they are.
func decodePercent(s string) string {
	for i := range len(s) {
		if s[i] == '%' {
			return string(appendDecoded(make([]byte, 0, len(s)), s))
		}
	}
	return s
}

func appendDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				dst = append(dst, byte(n))
				i += 2
				continue
			}
		}
		dst = append(dst, s[i])
	}
	return dst
}
