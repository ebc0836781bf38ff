package install

import (
	"context"
	"os"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
)

// apiServer is the client configuration of a real API server with our CRD and with RBAC enabled.
var apiServer *rest.Config

// kubeconfig is the same configuration for kubectl.
var kubeconfig []byte

func TestMain(m *testing.M) {
	os.Exit(withAPIServer(m.Run))
}

func withAPIServer(run func() int) int {
	return apiservertest.Run(root, func(env *envtest.Environment, config *rest.Config) int {
		apiServer, kubeconfig = config, env.KubeConfig
		return run()
	})
}

// clientAs returns a client that impersonates a user; the empty user is an administrator.
func clientAs(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(apiServer)
	config.Impersonate.UserName = user
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func create(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "install-"}}
	create(t, clientAs(t, ""), namespace)
	return namespace.Name
}

// allow gives a user rights in a namespace, and returns once they are effective: the API server's authorizer sees new
// roles with a delay.
func allow(t *testing.T, user, namespace string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	admin := clientAs(t, "")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "allow-", Namespace: namespace}, Rules: rules}
	create(t, admin, role)
	create(t, admin, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Namespace: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	attributes := authorizationv1.ResourceAttributes{
		Namespace: namespace, Group: rules[0].APIGroups[0], Resource: rules[0].Resources[0], Verb: rules[0].Verbs[0],
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &attributes},
		}
		err := admin.Create(ctx, review)
		return review.Status.Allowed, err
	})
	if err != nil {
		t.Fatalf("waiting for %s to be allowed to %s %s: %v", user, attributes.Verb, attributes.Resource, err)
	}
}
