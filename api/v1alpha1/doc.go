// Package v1alpha1 holds the kinds of the API group etcdbench.dev: data, validation markers, condition types and
// reasons, and the names of the objects that belong to a run.
//
// It imports API machinery only and has no behaviour except naming. Everything that can be checked without looking
// outside the object is checked at admission, by a schema or a CEL rule with a message that says what to write instead.
//
// Comments of fields and types wrap at 80 columns: kubectl explain keeps their line breaks.
//
// +kubebuilder:object:generate=true
// +groupName=etcdbench.dev
package v1alpha1
