//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkAdmission sends objects that the API server itself must refuse, with an error that names the field.
func checkAdmission(t *testing.T) {
	ns := namespace(t, "admission")
	t.Run("the sample", func(t *testing.T) {
		if err := tryCreate(t, ns, `{}`); err != nil {
			t.Fatalf("the sample itself is refused: %v", err)
		}
	})
	for name, tc := range map[string]struct {
		// change is merged into the sample's spec; null removes a field.
		change string
		// wantNamed are words that the error must contain.
		wantNamed []string
	}{
		"no target":                  {`{"target":{"service":null}}`, []string{"spec.target", "exactly one of endpoints"}},
		"two targets":                {`{"target":{"endpoints":["etcd:2379"]}}`, []string{"spec.target", "exactly one of endpoints, service"}},
		"zero clients":               {`{"load":{"clients":0}}`, []string{"load.clients", "1"}},
		"more connections":           {`{"load":{"connections":1001}}`, []string{"load.connections", "load.clients"}},
		"fewer connections":          {`{"load":{"connections":2}}`, []string{"load.pods", "load.connections"}},
		"unknown workload":           {`{"workload":{"type":"Scan"}}`, []string{"workload.type", "Put"}},
		"requests and duration":      {`{"load":{"durationSeconds":10}}`, []string{"found both", "load.durationSeconds"}},
		"neither of them":            {`{"load":{"requests":null}}`, []string{"found neither", "load.requests"}},
		"negative value size":        {`{"workload":{"put":{"values":{"sizeBytes":-1}}}}`, []string{"sizeBytes", "0"}},
		"negative key size":          {`{"workload":{"put":{"keys":{"count":1000,"sizeBytes":-8}}}}`, []string{"sizeBytes", "1"}},
		"value over etcd's limit":    {`{"workload":{"put":{"values":{"sizeBytes":20000000}}}}`, []string{"sizeBytes"}},
		"keys that do not fit":       {`{"workload":{"put":{"keys":{"count":1000,"sizeBytes":2}}}}`, []string{"sizeBytes", "count"}},
		"https without certificates": {`{"target":{"service":null,"endpoints":["https://etcd:2379"]}}`, []string{"target.tls"}},
		"a misspelt field":           {`{"load":{"client":5}}`, []string{"client"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := tryCreate(t, ns, tc.change)
			if err == nil {
				t.Fatal("wanted the API server to refuse it, but it was accepted")
			}
			if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
				t.Fatalf("wanted it refused as invalid, found: %v", err)
			}
			if missing := containsAll(err.Error(), tc.wantNamed); missing != nil {
				t.Error(missing)
			}
		})
	}
	t.Run("a Secret its creator may not read", func(t *testing.T) { checkForeignSecret(t, ns) })
}

// tryCreate creates, as a dry run, the sample with a change to its spec.
func tryCreate(t *testing.T, ns, change string) error {
	t.Helper()
	object := sample(t, ns)
	var patch map[string]any
	if err := json.Unmarshal([]byte(change), &patch); err != nil {
		t.Fatal(err)
	}
	merge(object.Object["spec"].(map[string]any), patch)
	return suite.client.Create(suite.ctx, object, client.DryRunAll, client.FieldValidation("Strict"))
}

// sample returns the sample in this namespace.
func sample(t *testing.T, ns string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(suite.root, "config", "samples", "etcdbenchmark_put.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetNamespace(ns)
	return object
}

// merge applies a JSON merge patch.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		old, wasMap := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && wasMap:
			merge(old, inner)
		default:
			into[key] = value
		}
	}
}

// checkForeignSecret acts as a user who may create runs but not read Secrets. Through the operator, this user could
// send a Secret's content to their own endpoint.
func checkForeignSecret(t *testing.T, ns string) {
	grant(t, ns, "runner", "etcdbench.dev", "etcdbenchmarks", "create")
	user := impersonate(t, "runner")
	for name, change := range map[string]func(*v1alpha1.Target){
		"tls":  func(target *v1alpha1.Target) { target.TLS = &v1alpha1.TargetTLS{SecretName: "private"} },
		"auth": func(target *v1alpha1.Target) { target.Auth = &v1alpha1.TargetAuth{SecretName: "private"} },
	} {
		b := newPutIn(ns, suite.side, name, 100)
		change(&b.Spec.Target)
		err := user.Create(suite.ctx, b.DeepCopy(), client.DryRunAll)
		if err == nil {
			t.Fatalf("%s: wanted the run refused to a user who may not get the Secret, but it was accepted", name)
		}
		if missing := containsAll(err.Error(), []string{"private", "get"}); missing != nil {
			t.Errorf("%s: %v", name, missing)
		}
	}
	if err := user.Create(suite.ctx, newPutIn(ns, suite.side, "none", 100), client.DryRunAll); err != nil {
		t.Errorf("a run without a Secret is refused: %v", err)
	}
	grant(t, ns, "runner", "", "secrets", "get")
	b := newPutIn(ns, suite.side, "allowed", 100)
	b.Spec.Target.Auth = &v1alpha1.TargetAuth{SecretName: "private"}
	if err := user.Create(suite.ctx, b, client.DryRunAll); err != nil {
		t.Errorf("a run with a Secret that its creator may get is refused: %v", err)
	}
}

// grant allows a user one verb on one resource of a namespace, and returns once it is effective: the API server's
// authorizer sees new roles with a delay.
func grant(t *testing.T, ns, user, group, resource, verb string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("%s-%s", user, resource)}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		},
	} {
		if err := suite.client.Create(suite.ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 30*time.Second, user+" to be allowed to "+verb+" "+resource, func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ns, Group: group, Resource: resource, Verb: verb},
		}}
		if err := suite.client.Create(ctx, review); err != nil {
			return err
		}
		if !review.Status.Allowed {
			return fmt.Errorf("not yet allowed: %s", review.Status.Reason)
		}
		return nil
	})
}

func impersonate(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(suite.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
