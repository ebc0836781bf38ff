package command

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What doctor cannot look at is refused by its name, before anything is waited for.
func TestDoctorRefuses(t *testing.T) {
	ns := namespace(t)
	service := func(name string, selector map[string]string) {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Port: 2379}}}}
		if err := apiServer.client.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	service("outside", nil)
	service("empty", map[string]string{"app": "etcd"})
	for arguments, want := range map[string]string{
		"":                              "--endpoints host:port",
		"etcd":                          `"etcd"`,
		"statefulset/etcd":              `"statefulset/etcd"`,
		"pod/absent":                    `"absent"`,
		"service/outside":               "service/outside selects no pods",
		"service/empty":                 "service/empty in namespace " + ns,
		"pod/a --endpoints 127.0.0.1:1": "--endpoints or pod/a",
		"pod/a -o json -o table":        "at most one form",
	} {
		got := call("", append([]string{"doctor", "-n", ns, "--window", "1s"}, strings.Fields(arguments)...)...)
		got.wantStatus(t, exitFailed)
		if !strings.Contains(got.err.String(), want) {
			t.Errorf("doctor %s: wrote %q, wanted %s", arguments, got.err.String(), want)
		}
	}
}
