// Package crd carries the generated CustomResourceDefinitions into binaries
// that check manifests without a cluster.
//
// It imports the standard library only.
package crd

import _ "embed"

// EtcdBenchmarks is the CustomResourceDefinition as YAML.
//
//go:embed bases/etcdbench.dev_etcdbenchmarks.yaml
var EtcdBenchmarks []byte

// EtcdBenchmarkSuites is the CustomResourceDefinition as YAML.
//
//go:embed bases/etcdbench.dev_etcdbenchmarksuites.yaml
var EtcdBenchmarkSuites []byte
