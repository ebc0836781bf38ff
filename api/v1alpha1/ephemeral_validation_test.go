package v1alpha1_test

import "testing"

func TestAdmissionAcceptsMembersOfTheRun(t *testing.T) {
	for name, target := range map[string]string{
		"the least": `{ephemeral: {image: "example.org/etcd:3.6"}}`,
		"settings":  `{ephemeral: {image: e, replicas: 9, settings: {quota-backend-bytes: "8589934592", unsafe-no-fsync: "true"}}}`,
		"a volume":  `{ephemeral: {image: e, storage: {volumeClaim: {storageClassName: gp3, size: 20Gi}}}}`,
		"memory":    `{ephemeral: {image: e, storage: {emptyDir: {medium: Memory, sizeLimit: 4Gi}}}}`,
		"a place":   `{ephemeral: {image: e, resources: {requests: {cpu: "1"}}, placement: {nodeSelector: {disk: fast}, tolerations: [{operator: Exists}]}}}`,
		"at once":   `{concurrentRuns: Allow, ephemeral: {image: e, keepSeconds: 86400}}`,
		"one alone": `{memberIndex: 2, ephemeral: {image: e}}`,
		"ZooKeeper": `{datastore: ZooKeeper, ephemeral: {image: e, settings: {maxClientCnxns: "0", snapCount: "100000", jvmFlags: "-Xms1g -Xmx1g -XX:+UseG1GC"}}}`,
		"Consul":    `{datastore: Consul, ephemeral: {image: e, settings: {performance.raft_multiplier: "1", limits.http_max_conns_per_client: "5000", raft_snapshot_threshold: "16384"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			wantTaken(t, edit{"spec.target", target}, edit{"spec.workload", nodes}, edit{"spec.load", `{connections: 10, clients: 10, requests: 1000}`})
		})
	}
}

func TestAdmissionRejectsMembersOfTheRun(t *testing.T) {
	for name, tc := range map[string]struct{ target, want string }{
		"no image":          {`{ephemeral: {}}`, "ephemeral.image: Required value"},
		"ten members":       {`{ephemeral: {image: e, replicas: 10}}`, "less than or equal to 9"},
		"a fourth of three": {`{memberIndex: 3, ephemeral: {image: e}}`, "must be less than the number of members (3), found 3"},
		"two targets":       {`{endpoints: ["a:1"], ephemeral: {image: e}}`, "found more than one"},
		"TLS":               {`{tls: {secretName: a}, ephemeral: {image: e}}`, "remove target.tls"},
		"a user":            {`{auth: {secretName: a}, ephemeral: {image: e}}`, "remove target.tls, auth"},
		"missing members":   {`{unreachableMembers: Skip, ephemeral: {image: e}}`, "remove target.tls, auth and unreachableMembers"},
		"another store":     {`{datastore: Kine, ephemeral: {image: e}}`, "set datastore to one of these stores"},
		"two storages":      {`{ephemeral: {image: e, storage: {emptyDir: {}, volumeClaim: {size: 1Gi}}}}`, "exactly one of volumeClaim and emptyDir must be set, found both"},
		"no storage":        {`{ephemeral: {image: e, storage: {}}}`, "found neither"},
		"its name":          {`{ephemeral: {image: e, settings: {name: a}}}`, "must be flags of etcd"},
		"its folder":        {`{ephemeral: {image: e, settings: {data-dir: /x}}}`, "must be flags of etcd"},
		"its URLs":          {`{ephemeral: {image: e, settings: {listen-metrics-urls: "http://a"}}}`, "must be flags of etcd"},
		"its cluster":       {`{ephemeral: {image: e, settings: {initial-cluster-state: existing}}}`, "must be flags of etcd"},
		"its certificates":  {`{ephemeral: {image: e, settings: {peer-trusted-ca-file: /x}}}`, "must be flags of etcd"},
		"its file":          {`{ephemeral: {image: e, settings: {config-file: /x}}}`, "must be flags of etcd"},
		"its log":           {`{ephemeral: {image: e, settings: {log-outputs: /x}}}`, "must be flags of etcd"},
		"hyphens":           {`{ephemeral: {image: e, settings: {--snapshot-count: "1"}}}`, "without hyphens in front"},
		"a server":          {`{datastore: ZooKeeper, ephemeral: {image: e, settings: {server.1: "a:1:2"}}}`, "must be properties of zoo.cfg"},
		"a data folder":     {`{datastore: ZooKeeper, ephemeral: {image: e, settings: {dataLogDir: a}}}`, "must be properties of zoo.cfg"},
		"a second line":     {`{datastore: ZooKeeper, ephemeral: {image: e, settings: {snapCount: "1\ndataDir=/x"}}}`, "must be properties of zoo.cfg"},
		"a command of Java": {`{datastore: ZooKeeper, ephemeral: {image: e, settings: {jvmFlags: "-XX:OnError=reboot"}}}`, "must be properties of zoo.cfg"},
		"a buffer's size":   {`{datastore: ZooKeeper, ephemeral: {image: e, settings: {jvmFlags: "-Xmx1g -Djute.maxbuffer=1000"}}}`, "must be properties of zoo.cfg"},
		"a Java property":   {`{datastore: ZooKeeper, ephemeral: {image: e, settings: {jvmFlags: "-Dzookeeper.forceSync=no"}}}`, "must be properties of zoo.cfg"},
		"its metrics":       {`{datastore: Consul, ephemeral: {image: e, settings: {telemetry.prometheus_retention_time: 1h}}}`, "must be configuration keys by path"},
		"a watch handler":   {`{datastore: Consul, ephemeral: {image: e, settings: {watches.handler: reboot}}}`, "must be configuration keys by path"},
		"its ports":         {`{datastore: Consul, ephemeral: {image: e, settings: {ports.http: "1"}}}`, "must be configuration keys by path"},
		"a quote":           {`{datastore: Consul, ephemeral: {image: e, settings: {raft_protocol: "3 }"}}}`, "must be configuration keys by path"},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, edit{"spec.target", tc.target}) })
	}
}

func TestAdmissionOfDisks(t *testing.T) {
	append := []edit{{"spec.workload", `{type: Append, append: {}}`}, {"spec.load", `{connections: 1, clients: 1, requests: 1000}`}}
	for name, tc := range map[string]struct{ storage, want string }{
		"no storage":         {`{}`, ""},
		"a claim":            {`{storage: {volumeClaim: {size: 600Mi}}}`, ""},
		"an emptyDir":        {`{storage: {emptyDir: {}}}`, ""},
		"a limited emptyDir": {`{storage: {emptyDir: {sizeLimit: 1Gi}}}`, ""},
		"a small claim":      {`{storage: {volumeClaim: {size: 599Mi}}}`, "must have at least 600Mi"},
		"a claim in bytes":   {`{storage: {volumeClaim: {size: 1000000}}}`, "must have at least 600Mi"},
		"a small emptyDir":   {`{storage: {emptyDir: {sizeLimit: 256Mi}}}`, "must have at least 600Mi"},
		"memory":             {`{storage: {emptyDir: {medium: Memory}}}`, "in memory a flush does nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			all := []edit{{"spec.target", `{datastore: Disk, disk: ` + tc.storage + `}`}, append[0], append[1]}
			if tc.want == "" {
				wantTaken(t, all...)
			} else {
				wantRefused(t, tc.want, all...)
			}
		})
	}
}
