// Package v1alpha1 holds the kinds of the API group etcdbench.dev: data,
// validation markers, condition types and reasons, and the names of the
// objects that belong to a run.
//
// It imports API machinery only and holds no behaviour beyond naming. Its one
// invariant: whatever can be checked without looking outside the object is
// checked at admission, by a schema or CEL rule whose message says what to
// write instead.
//
// +kubebuilder:object:generate=true
// +groupName=etcdbench.dev
package v1alpha1
