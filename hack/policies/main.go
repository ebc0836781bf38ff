// Command policies writes the admission policies for the Secrets that runs, suites, schedules and Jobs name.
//
// Usage: go run ./hack/policies DIRECTORY
//
// The policies of strict mode are in DIRECTORY/strict.
//
// The API server limits the cost of policies. A check of rights costs 350,000. One expression may cost 1,000,000, and all
// expressions of a policy together may cost 10,000,000. So each entry of a list has its own expression, and each kind of
// Secret in a suite has its own policy.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// The limits of the lists in the API. A Job of the operator mounts at most one Secret with certificates and one with a
// user, and has the imagePullSecrets of its run.
const (
	maxTargets     = 20
	maxPullSecrets = 8
	maxJobSecrets  = 2 + maxPullSecrets
)

// policy checks Secrets of one resource.
type policy struct {
	// File and Name of the policy.
	File, Name string
	// Group and Resource whose creation is checked.
	Group, Resource string
	// ExceptOperator admits what the operator creates.
	ExceptOperator bool
	// Strict checks only what the operator creates. It asks for the rights of the service account of client pods.
	Strict bool
	// Operations that are checked.
	Operations string
	// Changed is the field whose change is checked; empty if the object cannot change.
	Changed string
	// Named is the expression for the list of names. An empty name stands for a field that is not set.
	Named string
	// Fields has the path of each list entry. The message of a refusal names it.
	Fields []string
	// Bounded refuses more names than Fields has. Without it, the schema of the resource bounds them.
	Bounded bool
}

const (
	ourGroup    = "etcdbench.dev"
	namePrefix  = "etcd-benchmark-operator-"
	pullSecrets = "imagePullSecrets.orValue([]).map(s, s.?name.orValue(''))"
)

// policies are all generated policies.
func policies() []policy {
	out := append([]policy{runSecrets()}, suiteSecrets("suite", policy{Resource: "etcdbenchmarksuites", ExceptOperator: true, Operations: "CREATE"}, "spec")...)
	schedules := policy{Resource: "etcdbenchmarkschedules", Operations: "CREATE, UPDATE", Changed: "spec.suiteTemplate"}
	out = append(out, suiteSecrets("schedule", schedules, "spec.suiteTemplate.spec")...)
	for _, p := range append([]policy{runSecrets()}, suiteSecrets("suite", policy{Resource: "etcdbenchmarksuites", Operations: "CREATE"}, "spec")...) {
		out = append(out, strict(p))
	}
	return append(out, strict(jobSecrets()))
}

// strict returns the policy for what the operator creates.
func strict(p policy) policy {
	p.File, p.Name, p.ExceptOperator, p.Strict = filepath.Join("strict", p.File), namePrefix+"strict-"+strings.TrimPrefix(p.Name, namePrefix), false, true
	return p
}

func runSecrets() policy {
	return policy{
		File: "secrets.yaml", Name: namePrefix + "secrets", Group: ourGroup, Resource: "etcdbenchmarks", ExceptOperator: true, Operations: "CREATE",
		Named: "[object.spec.target.?tls.secretName.orValue(''), object.spec.target.?auth.secretName.orValue('')] +\n" +
			"      object.spec.?pod." + pullSecrets,
		Fields: append([]string{"spec.target.tls", "spec.target.auth"}, entries("spec.pod.imagePullSecrets[%d]", maxPullSecrets)...),
	}
}

// suiteSecrets returns a policy for each kind of Secret of a suite's spec at a path. The resource of the others is like p.
func suiteSecrets(short string, p policy, spec string) (out []policy) {
	for _, secret := range []struct{ of, named, field string }{
		{"tls", ".targets.map(t, t.target.?tls.secretName.orValue(''))", ".targets[%d].target.tls"},
		{"auth", ".targets.map(t, t.target.?auth.secretName.orValue(''))", ".targets[%d].target.auth"},
		{"pull", ".?template.pod." + pullSecrets, ".template.pod.imagePullSecrets[%d]"},
	} {
		n := maxTargets
		if secret.of == "pull" {
			n = maxPullSecrets
		}
		p.File, p.Name = short+"_"+secret.of+"_secrets.yaml", namePrefix+short+"-"+secret.of+"-secrets"
		p.Group, p.Named, p.Fields = ourGroup, "object."+spec+secret.named, entries(spec+secret.field, n)
		out = append(out, p)
	}
	return out
}

// jobSecrets finds the Secrets in volumes and imagePullSecrets. Another policy, written by hand, refuses all other ways
// in which the pods of a Job could use a Secret.
func jobSecrets() policy {
	const pod = "object.spec.template.spec."
	return policy{
		File: "job_secrets.yaml", Name: namePrefix + "job-secrets", Group: "batch", Resource: "jobs", Operations: "CREATE",
		Named: pod + "?volumes.orValue([]).filter(v, has(v.secret)).map(v, v.secret.?secretName.orValue('')) +\n" +
			"      " + pod + "?" + pullSecrets,
		Fields: slices.Repeat([]string{"spec.template.spec"}, maxJobSecrets), Bounded: true,
	}
}

// entries returns the paths of a list's entries.
func entries(format string, n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf(format, i))
	}
	return paths
}

var manifest = template.Must(template.New("policy").Parse(
	`# Code generated by hack/policies. DO NOT EDIT. To write this file again, run: make manifests
#
{{- if .Strict}}
# Strict mode: what the operator creates may name a Secret only if the service account etcdbench-client of the namespace
# has the right to get it. So a stolen token of the operator reaches no other Secret. A check of rights takes a third of
# the cost limit of an expression, so each Secret has an expression of its own.
#
# The policy recognizes the operator by the verb create-children. Administrators with all verbs also have create-children;
# the policy recognizes them by the verb do-everything, and skips them.
{{- else}}
# A client pod sends the content of a Secret to the target that the user chose. So the user who creates an object must have
# the right to get each Secret that the object names. A check of rights takes a third of the cost limit of an expression, so
# each Secret has an expression of its own.
{{- end}}
{{- if .ExceptOperator}}
#
# The operator creates the runs of suites and the suites of schedules. It has no right to get Secrets, and the policies for
# suites and schedules have checked the user who created those. So this policy skips the operator. It recognizes the
# operator by the verb create-children. Administrators with all verbs also have create-children; the policy recognizes
# them by the verb do-everything, and checks them.
{{- end}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{.Name}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [{{.Group}}]
      apiVersions: ["*"]
      resources: [{{.Resource}}]
      operations: [{{.Operations}}]
{{- if .Changed}}
  # A change of the template could send the Secrets that it names elsewhere; other changes need no right.
  matchConditions:
  - name: new-or-changed
    expression: "oldObject == null || object.{{.Changed}} != oldObject.{{.Changed}}"
{{- end}}
{{- if .ExceptOperator}}
  matchConditions:
  - name: by-a-user
    expression: >-
      !authorizer.group('etcdbench.dev').resource('etcdbenchmarks').namespace(request.namespace).check('create-children').allowed() ||
      authorizer.group('etcdbench.dev').resource('etcdbenchmarks').namespace(request.namespace).check('do-everything').allowed()
{{- end}}
{{- if .Strict}}
  matchConditions:
  - name: by-the-operator
    expression: >-
      authorizer.group('etcdbench.dev').resource('etcdbenchmarks').namespace(request.namespace).check('create-children').allowed() &&
      !authorizer.group('etcdbench.dev').resource('etcdbenchmarks').namespace(request.namespace).check('do-everything').allowed()
{{- end}}
  variables:
  - name: named
    expression: >-
      {{.Named}}
  - name: place
    expression: "' of namespace ' + request.namespace + ', named in '"
  - name: change
{{- if .Strict}}
    expression: "': give it the right to get it, or name another Secret'"
{{- else}}
    expression: "': ask for the right to get it, or name another Secret'"
{{- end}}
  validations:
{{- if .Bounded}}
  - expression: size(variables.named) <= {{len .Fields}}
    reason: Forbidden
    message: "the operator's pods name at most {{len .Fields}} Secrets: please report this as a bug of the operator"
{{- end}}
{{- range $i, $field := .Fields}}
  - expression: >-
      size(variables.named) <= {{$i}} || variables.named[{{$i}}] == '' ||
      authorizer{{if $.Strict}}.serviceAccount(request.namespace, 'etcdbench-client'){{end}}.group('').resource('secrets').namespace(request.namespace).name(variables.named[{{$i}}]).check('get').allowed()
    reason: Forbidden
    messageExpression: >-
      {{if $.Strict}}'strict mode: the service account etcdbench-client{{else}}request.userInfo.username + '{{end}} may not get Secret ' + variables.named[{{$i}}] + variables.place + '{{$field}}' + variables.change
{{- end}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{.Name}}
spec:
  policyName: {{.Name}}
  validationActions: [Deny]
`))

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/policies DIRECTORY")
		os.Exit(2)
	}
	for _, p := range policies() {
		var text bytes.Buffer
		err := manifest.Execute(&text, p)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], p.File), text.Bytes(), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "policies:", err)
			os.Exit(1)
		}
	}
}
