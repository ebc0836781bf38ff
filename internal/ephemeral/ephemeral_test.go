package ephemeral

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheArgumentsOfAMember(t *testing.T) {
	members := []Member{
		{Name: "m-0", Listen: "0.0.0.0", Host: "m-0.run.ns", ClientPort: "2379", PeerPort: "2380", DataDir: "/data/0"},
		{Name: "m-1", Listen: "::", Host: "m-1.run.ns", ClientPort: "12379", PeerPort: "12380", DataDir: "/data/1"},
	}
	got := Etcd(members[1], members, "uid", map[string]string{"quota-backend-bytes": "8589934592", "heartbeat-interval": "50"})
	want := []string{
		"--name=m-1", "--data-dir=/data/1",
		"--listen-client-urls=http://[::]:12379", "--advertise-client-urls=http://m-1.run.ns:12379",
		"--listen-peer-urls=http://[::]:12380", "--initial-advertise-peer-urls=http://m-1.run.ns:12380",
		"--initial-cluster=m-0=http://m-0.run.ns:2380,m-1=http://m-1.run.ns:12380",
		"--initial-cluster-token=uid", "--initial-cluster-state=new",
		"--heartbeat-interval=50", "--quota-backend-bytes=8589934592",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
