package command

import "testing"

func TestPageName(t *testing.T) {
	for _, tc := range []struct {
		want   string
		redact bool
		args   []string
	}{
		{"etcd-3.6.html", false, []string{"suite/etcd-3.6"}},
		{"etcd-3.7.html", false, []string{"suite/etcd-3.7"}},
		{"etcd-3.6.html", false, []string{"etcd-3.6"}},
		{"writes.html", false, []string{"writes"}},
		{"result.html", false, []string{"results/result.json"}},
		{"result.v2.html", false, []string{"./result.v2.yaml"}},
		{"report.html", false, []string{"one", "two"}},
		{"report.html", true, []string{"writes"}},
	} {
		if got := pageName(tc.args, tc.redact); got != tc.want {
			t.Errorf("%q: found %s, wanted %s", tc.args, got, tc.want)
		}
	}
}
