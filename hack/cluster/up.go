package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// addonTimeout bounds how long the node and CoreDNS may take after all daemons serve.
const addonTimeout = 90 * time.Second

// step is one step of up. Its name is printed when it is done.
type step struct {
	name string
	do   func(ctx context.Context) error
}

// up starts the cluster, or verifies the running one. The remains of a failed or interrupted up are removed first.
func up(ctx context.Context, l layout, p *progress) error {
	if err := check(ctx, l); err != nil {
		return err
	}
	j, err := owned(runDir, l.checkout)
	if err != nil {
		return err
	}
	if j != nil && j.Checkout == l.checkout && checkUp(ctx, l, j) == nil {
		p.say("already up: KUBECONFIG=%s", l.kubeconfig())
		return nil
	}
	if j != nil || hasRemains(l) {
		p.say("found an incomplete cluster; taking it down first")
		if err := down(ctx, l, p); err != nil {
			return err
		}
	}
	return start(ctx, l, p)
}

// check fails if no cluster can be started here. It changes nothing, so it can run before anything is built.
func check(ctx context.Context, l layout) error {
	if err := checkHost(l); err != nil {
		return err
	}
	j, err := owned(runDir, l.checkout)
	if err != nil || j != nil || hasRemains(l) { // up verifies its own cluster, or takes down what is left of it
		return err
	}
	return checkNetworkFree(ctx)
}

// start starts a cluster on a host without one.
func start(ctx context.Context, l layout, p *progress) error {
	if err := prepare(ctx, l, p); err != nil {
		return err
	}
	j, err := claim(runDir, l.checkout)
	if err != nil {
		return err
	}
	// After a restart of the host, the journal is gone but old data remains.
	if err := (demolition{layout: l, journal: j}).removeFolders(); err != nil {
		return err
	}
	if l.ports, err = freePorts(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &supervisor{layout: l, journal: j, fail: cancel}
	for _, st := range s.steps() {
		if err := st.do(ctx); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause // a daemon died, or the user interrupted: the step's own error is only a consequence
			}
			return fmt.Errorf("%s: %w\n`go run ./hack/cluster down` cleans up; logs are in %s", st.name, err, l.path("logs"))
		}
		p.say("%s", st.name)
	}
	p.say("up: KUBECONFIG=%s", l.kubeconfig())
	return nil
}

// prepare does the work that changes only the host's packages.
func prepare(ctx context.Context, l layout, p *progress) error {
	if err := installPackages(ctx, l, p); err != nil {
		return err
	}
	if err := checkNetworkFree(ctx); err != nil {
		return err
	}
	tools := goCommand(ctx, l, "run", "./hack/tools", "cluster")
	tools.Stdout, tools.Stderr = p.out, p.out
	if err := tools.Run(); err != nil {
		return fmt.Errorf("building the cluster's programs: %w", err)
	}
	p.say("programs")
	if err := buildOwnImages(ctx, l); err != nil {
		return err
	}
	p.say("images")
	return nil
}

// steps lists the steps after the cluster has been claimed.
func (s *supervisor) steps() []step {
	l := s.layout
	return []step{
		{"host state recorded", func(context.Context) error { return s.recordHost() }},
		{"certificates and configuration", func(context.Context) error { return writeConfig(l) }},
		{"network and cgroups", func(ctx context.Context) error { return errors.Join(connectNode(ctx), createCgroups()) }},
		{"etcd and containerd", func(ctx context.Context) error { return s.launch(ctx, etcdDaemon(l), containerdDaemon(l)) }},
		{"kube-apiserver", s.launchAPIServer},
		{"controllers, scheduler, kubelet, kube-proxy", func(ctx context.Context) error {
			return s.launch(ctx, controllerManagerDaemon(l), schedulerDaemon(l), kubeletDaemon(l), proxyDaemon(l))
		}},
		{"add-ons applied", func(ctx context.Context) error { return applyAddons(ctx, l) }},
		{"node ready", func(ctx context.Context) error { return waitNode(ctx, l) }},
		{"cluster DNS answers", func(ctx context.Context) error { return waitDNS(ctx, l) }},
	}
}

// launch starts the daemons together and waits for all.
func (s *supervisor) launch(ctx context.Context, daemons ...daemon) error {
	for _, d := range daemons {
		if err := s.start(d); err != nil {
			return err
		}
	}
	for _, d := range daemons {
		if err := s.await(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// launchAPIServer imports the images while the API server starts.
func (s *supervisor) launchAPIServer(ctx context.Context) error {
	d := apiServerDaemon(s.layout)
	if err := s.start(d); err != nil {
		return err
	}
	if err := loadOwnImages(ctx, s.layout); err != nil {
		return err
	}
	return s.await(ctx, d)
}

// recordHost records the state that the cluster will change, before any change.
func (s *supervisor) recordHost() error {
	values, err := readSysctls()
	if err != nil {
		return err
	}
	s.journal.Sysctls = values
	s.journal.Created = missingFolders()
	return s.journal.write()
}

func writeConfig(l layout) error {
	if err := os.MkdirAll(libDir, 0o711); err != nil {
		return err
	}
	if err := writeCertificates(l); err != nil {
		return err
	}
	if err := writeKubeconfigs(l); err != nil {
		return err
	}
	return writeNodeConfig(l)
}

// applyAddons installs CoreDNS. It repeats the apply, because the API server may still be creating its own roles and
// namespaces.
func applyAddons(ctx context.Context, l layout) error {
	manifest := l.path("coredns.yaml")
	values := map[string]string{"ClusterDomain": clusterDomain, "Image": coreDNSImage, "Address": dnsAddress}
	if err := renderTo(manifest, "coredns.yaml", values); err != nil {
		return err
	}
	return poll(ctx, addonTimeout, func(ctx context.Context) error {
		_, err := kubectl(ctx, l, "apply", "-f", manifest)
		return err
	})
}

func waitNode(ctx context.Context, l layout) error {
	return poll(ctx, addonTimeout, func(ctx context.Context) error {
		_, err := kubectl(ctx, l, "wait", "--for=condition=Ready", "node/"+nodeName, "--timeout=10s")
		return err
	})
}

// waitDNS queries CoreDNS through its Service, which also tests kube-proxy and the host's route to Services.
func waitDNS(ctx context.Context, l layout) error {
	if _, err := kubectl(ctx, l, "--namespace=kube-system", "rollout", "status", "deployment/coredns", "--timeout="+addonTimeout.String()); err != nil {
		return err
	}
	return poll(ctx, 20*time.Second, probeDNS)
}

// probeDNS resolves the API server's own Service through the cluster's DNS.
func probeDNS(ctx context.Context) error {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, net.JoinHostPort(dnsAddress, "53"))
	}}
	name := "kubernetes.default.svc." + clusterDomain + "."
	addresses, err := resolver.LookupHost(ctx, name)
	if err != nil {
		return err
	}
	if len(addresses) != 1 || addresses[0] != firstServiceAddress {
		return fmt.Errorf("%s resolves to %v, want %s", name, addresses, firstServiceAddress)
	}
	return nil
}

func kubectl(ctx context.Context, l layout, args ...string) (string, error) {
	return run(ctx, l.tool("kubectl"), append([]string{"--kubeconfig=" + l.kubeconfig()}, args...)...)
}

// goCommand runs the go command in the checkout.
func goCommand(ctx context.Context, l layout, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = l.checkout
	return cmd
}
