// Package gitops tests config/gitops: what Argo CD and Flux make of our objects, the samples for pipelines, and our own
// workflows. It has only tests. The libraries of these projects are dependencies of these tests alone.
package gitops
