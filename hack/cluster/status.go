package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// daemonNames lists the daemons of a complete cluster, in the order of their start.
var daemonNames = []string{
	"etcd", "containerd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy",
}

// requireCluster returns the journal of this checkout's cluster. It fails if no cluster was started.
func requireCluster(l layout) (*journal, error) {
	j, err := owned(runDir, l.checkout)
	if err != nil {
		return nil, err
	}
	if j == nil || j.Checkout != l.checkout {
		return nil, errors.New("no cluster is up: `go run ./hack/cluster up` starts one")
	}
	return j, nil
}

// checkUp returns the reason if the cluster of j is not complete and ready.
func checkUp(ctx context.Context, l layout, j *journal) error {
	for _, name := range daemonNames {
		if p, ok := j.process(name); !ok || !p.isAlive() {
			return fmt.Errorf("%s is not running; the end of its log:\n%s", name, lastLines(l.logFile(name), 15))
		}
	}
	if _, err := kubectl(ctx, l, "wait", "--for=condition=Ready", "node/"+nodeName, "--timeout=5s"); err != nil {
		return err
	}
	return probeDNS(ctx)
}

// status prints each daemon. It fails if the cluster is not complete and ready.
func status(ctx context.Context, l layout, out io.Writer) error {
	j, err := requireCluster(l)
	if err != nil {
		return err
	}
	for _, name := range daemonNames {
		p, _ := j.process(name)
		state := "down"
		if p.isAlive() {
			state = "up"
		}
		fmt.Fprintf(out, "%-24s %-5s pid %-8d %s\n", name, state, p.PID, l.logFile(name))
	}
	if err := checkUp(ctx, l, j); err != nil {
		return err
	}
	fmt.Fprintf(out, "ready: KUBECONFIG=%s\n", l.kubeconfig())
	return nil
}
