// Package fast is the Fast transport to etcd: unary calls of the KV and Lease services by gRPC over HTTP/2. A call
// costs the client a small part of the processor time that grpc-go needs.
//
// It imports eventloop for connections and loops, load for the contract of connections, and its pure packages frame, unary
// and message. Only the Call of an operation knows its request and its response.
package fast
