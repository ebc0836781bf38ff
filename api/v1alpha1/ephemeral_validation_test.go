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
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edit{"spec.target", target}) })
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
		"another store":     {`{datastore: ZooKeeper, ephemeral: {image: e}}`, "datastore to Etcd"},
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
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, edit{"spec.target", tc.target}) })
	}
}
