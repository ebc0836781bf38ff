// Package gitops tests config/gitops: what Argo CD and Flux make of our objects, and the samples for pipelines. It has only
// tests. The libraries of these projects are dependencies of these tests alone.
package gitops
