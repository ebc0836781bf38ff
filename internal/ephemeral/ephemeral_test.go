package ephemeral

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// member1 is the second of two members: the first one is a pod, this one a process.
func member1(t *testing.T, store spec.Datastore, settings map[string]string) Process {
	t.Helper()
	members := []Member{
		{Index: "0", Name: "m-0", Listen: "0.0.0.0", Host: "m-0.run.ns", Ports: Ports{"2379", "2380", "2381"}, DataDir: "/data/0"},
		{Index: "1", Name: "m-1", Listen: "127.0.0.1", Host: "127.0.0.1", Ports: Ports{"12379", "12380", "12381"}, DataDir: "/data/1", ConfigDir: "/config"},
	}
	s, ok := Of(store)
	if !ok {
		t.Fatalf("no member of %s can be started", store)
	}
	return s.Start(members[1], members, "uid", settings)
}

func TestHowAMemberStarts(t *testing.T) {
	for store, tc := range map[spec.Datastore]struct {
		settings map[string]string
		want     Process
	}{
		spec.Etcd: {map[string]string{"quota-backend-bytes": "8589934592", "heartbeat-interval": "50"}, Process{Args: []string{
			"--name=m-1", "--data-dir=/data/1",
			"--listen-client-urls=http://127.0.0.1:12379", "--advertise-client-urls=http://127.0.0.1:12379",
			"--listen-peer-urls=http://127.0.0.1:12380", "--initial-advertise-peer-urls=http://127.0.0.1:12380",
			"--initial-cluster=m-0=http://m-0.run.ns:2380,m-1=http://127.0.0.1:12380",
			"--initial-cluster-token=uid", "--initial-cluster-state=new",
			"--heartbeat-interval=50", "--quota-backend-bytes=8589934592",
		}}},
		spec.ZooKeeper: {map[string]string{"snapCount": "1000", JVMFlags: "-Xmx1g -Xms1g", "tickTime": "500"}, Process{
			Args: []string{"start-foreground", "/config/zoo.cfg"}, Env: []string{"SERVER_JVMFLAGS=-Xmx1g -Xms1g"},
			Files: map[string]string{"/data/1/myid": "1", "/config/zoo.cfg": `tickTime=2000
initLimit=10
syncLimit=5
snapCount=1000
tickTime=500
dataDir=/data/1
clientPort=12379
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr,conf,mntr
server.0=m-0.run.ns:2380:2381
server.1=127.0.0.1:12380:12381
quorumListenOnAllIPs=false
`},
		}},
		spec.Consul: {map[string]string{"performance.raft_multiplier": "1", "session_ttl_min": "1s", "raft_logstore.disable": "true"}, Process{Args: []string{
			"agent", "-server", "-bootstrap-expect=2", "-node=m-1", "-data-dir=/data/1",
			"-bind=127.0.0.1", "-advertise=127.0.0.1", "-client=127.0.0.1", "-http-port=12379", "-server-port=12380", "-serf-lan-port=12381",
			"-serf-wan-port=-1", "-dns-port=-1", "-grpc-port=-1", "-disable-host-node-id", "-disable-keyring-file", "-log-level=info", "-retry-interval=1s",
			"-retry-join=m-0.run.ns:2381", "-hcl=disable_update_check = true",
			"-hcl=performance { raft_multiplier = 1 }", "-hcl=raft_logstore { disable = true }", `-hcl=session_ttl_min = "1s"`,
			`-hcl=telemetry { prometheus_retention_time = "24h" }`,
		}}},
	} {
		if diff := cmp.Diff(tc.want, member1(t, store, tc.settings)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", store, diff)
		}
	}
}

// A single server of ZooKeeper is no ensemble, and needs no list of servers.
func TestOneServerOfZooKeeper(t *testing.T) {
	s, _ := Of(spec.ZooKeeper)
	m := Member{Index: "0", Listen: "0.0.0.0", Host: "a", Ports: s.Ports, DataDir: "/data", ConfigDir: "/config"}
	got := s.Start(m, []Member{m}, "", nil)
	want := "tickTime=2000\ninitLimit=10\nsyncLimit=5\ndataDir=/data\nclientPort=2181\nclientPortAddress=0.0.0.0\nadmin.enableServer=false\n4lw.commands.whitelist=srvr,conf,mntr\n"
	if diff := cmp.Diff(want, got.Files["/config/zoo.cfg"]); diff != "" || got.Env != nil {
		t.Errorf("got the variables %q (-want +got):\n%s", got.Env, diff)
	}
}

// kine is not started for a run.
func TestStoresThatAreStarted(t *testing.T) {
	for _, store := range spec.Datastores() {
		if _, ok := Of(store); ok != (store != spec.Kine && store != spec.Disk) {
			t.Errorf("%s: got %t", store, ok)
		}
	}
}
