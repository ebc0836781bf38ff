package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	namespace   = "etcdbench-demo"
	kindCluster = "etcdbench-demo"
	sample      = "config/samples/etcdbenchmark_put.yaml"
	table       = "config/samples/published/suite_etcd_page.yaml"
	memberImage = "gcr.io/etcd-development/etcd:*"
	kubectl     = "bin/tools/kubectl"
	plugin      = "bin/kubectl-etcdbench"
	resultFile  = "out/demo.json"
	pageFile    = "out/demo.html"
)

// demo is one run of the demo.
type demo struct {
	place venue
	image string
	start time.Time
}

// step is a part of the demo, with the title that the user sees.
type step struct {
	name string
	do   func(context.Context) error
}

// steps begins with a run that needs no cluster. why explains to the user the choice of the venue. What can keep the
// cluster from starting on this host is looked at before anything is built.
func (d *demo) steps(why string) []step {
	var steps []step
	if d.place == venueHost {
		steps = append(steps, step{"Looking whether a cluster can start on this host", d.checkHost})
	}
	steps = append(steps,
		step{"Building the kubectl plugin", d.buildPlugin},
		step{"Running " + sample + " on three members of etcd, without a cluster", d.runLocally},
	)
	if d.place == venueLocal {
		return append(steps, step{"The demo ends here: " + why, func(context.Context) error { return nil }})
	}
	return append(steps,
		step{"Building kubectl and helm, if missing", d.buildTools},
		step{"Starting or finding the cluster: " + why, d.startCluster},
		step{"Building the operator's image and loading it into the cluster", d.loadImage},
		step{"Installing the operator by its Helm chart", d.install},
		step{"Running " + table + ": the seven rows of etcd's performance page, each on three new members", d.runTable},
	)
}

// outlook says how long the demo takes, and what it leaves on the machine.
func (d *demo) outlook() string {
	switch d.place {
	case venueHost:
		return "The demo takes about 12 minutes the first time and 3 later. It installs Debian packages (containerd, runc,\n" +
			"CNI plugins, buildah), builds Kubernetes into bin/, and starts a cluster on this host: processes, mounts, routes and\n" +
			"firewall rules, which `make cluster-down` removes."
	case venueKind:
		return "The demo takes about 8 minutes the first time and 3 later. It starts a cluster of kind, and pulls images."
	case venueCurrent:
		return "The demo takes about 5 minutes. It installs the operator in the cluster of the current context, and creates the namespace " + namespace + "."
	}
	return "The demo takes about 4 minutes the first time and some seconds later. It installs nothing: it builds into bin/ and out/."
}

// say prints progress, with the time since the start.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "==> %5.0fs  %s\n", time.Since(d.start).Seconds(), fmt.Sprintf(format, args...))
}

func (d *demo) checkHost(ctx context.Context) error {
	return d.command(ctx, "go", "run", "./hack/cluster", "check")
}

func (d *demo) buildPlugin(ctx context.Context) error { return d.command(ctx, "make", "plugin") }

func (d *demo) buildTools(ctx context.Context) error {
	return d.command(ctx, "go", "run", "./hack/tools", "kubectl", "helm")
}

func (d *demo) startCluster(ctx context.Context) error {
	switch d.place {
	case venueHost:
		return d.command(ctx, "go", "run", "./hack/cluster", "up")
	case venueKind:
		return d.startKind(ctx)
	default:
		return d.command(ctx, kubectl, "config", "current-context")
	}
}

func (d *demo) startKind(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(d.kubeconfig()), 0o755); err != nil {
		return err
	}
	clusters, err := exec.CommandContext(ctx, "kind", "get", "clusters").Output()
	if err != nil {
		return fmt.Errorf("asking kind for its clusters: %w", err)
	}
	if slices.Contains(strings.Fields(string(clusters)), kindCluster) {
		return d.command(ctx, "kind", "export", "kubeconfig", "--name", kindCluster, "--kubeconfig", d.kubeconfig())
	}
	return d.command(ctx, "kind", "create", "cluster", "--name", kindCluster, "--kubeconfig", d.kubeconfig(), "--wait", "3m")
}

func (d *demo) loadImage(ctx context.Context) error {
	switch d.place {
	case venueHost:
		if err := d.command(ctx, "make", "image-binaries"); err != nil {
			return err
		}
		return d.command(ctx, "go", "run", "./hack/cluster", "build-image", "-f", "Dockerfile", "-t", d.image, ".")
	case venueKind:
		if err := d.command(ctx, "make", "image"); err != nil {
			return err
		}
		return d.command(ctx, "kind", "load", "docker-image", d.image, "--name", kindCluster)
	default:
		d.say("the cluster pulls %s", d.image)
		return nil
	}
}

func (d *demo) install(ctx context.Context) error {
	cmd := d.prepare(ctx, "hack/deploy.sh")
	cmd.Env = append(cmd.Env, "HELM_FLAGS=--hide-notes --set limits.memberImages={"+memberImage+"} "+os.Getenv("HELM_FLAGS"))
	return cmd.Run()
}

func (d *demo) apply(ctx context.Context, manifests []byte) error {
	cmd := d.prepare(ctx, kubectl, "apply", "--namespace", namespace, "--filename=-")
	cmd.Stdin = bytes.NewReader(manifests)
	return cmd.Run()
}

// runTable runs a suite in a namespace that admits only restricted pods. A suite cannot be repeated, so that of an earlier
// demo is deleted first. The only node of kind is one of a control plane: there the suite acknowledges that.
func (d *demo) runTable(ctx context.Context) error {
	enforcing := fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {pod-security.kubernetes.io/enforce: restricted}}}", namespace)
	if err := d.apply(ctx, []byte(enforcing)); err != nil {
		return err
	}
	if err := d.command(ctx, kubectl, "delete", "--namespace", namespace, "--filename", table, "--ignore-not-found", "--timeout=150s"); err != nil {
		return err
	}
	manifest, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	if d.place == venueKind {
		d.say("The node of kind is one of a control plane, so the suite sets guard.acknowledgeControlPlane.")
		manifest = bytes.Replace(manifest, []byte("\nspec:\n"), []byte("\nspec:\n  template: {guard: {acknowledgeControlPlane: true}}\n"), 1)
	}
	return d.run(ctx, manifest, "--namespace", namespace)
}

func (d *demo) runLocally(ctx context.Context) error {
	manifest, err := os.ReadFile(sample)
	if err != nil {
		return err
	}
	return d.run(ctx, manifest, "--local", "--members=3")
}

// run runs a manifest with the plugin, which prints its table, and saves the finished object and its page. It fails unless
// each run completed and met its objectives.
func (d *demo) run(ctx context.Context, manifest []byte, args ...string) error {
	if err := os.MkdirAll(filepath.Dir(resultFile), 0o755); err != nil {
		return err
	}
	cmd := d.prepare(ctx, plugin, append([]string{"run", "--filename=-", "--output=json=" + resultFile, "--output=html=" + pageFile}, args...)...)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(manifest), os.Stdout
	return cmd.Run()
}

// printNextSteps prints how to inspect the result, and how to remove what the demo started.
func (d *demo) printNextSteps(out io.Writer) {
	d.say("Done.\n")
	fmt.Fprintf(out, "The page for a browser is %s, the finished object %s.\n", pageFile, resultFile)
	if path := d.kubeconfig(); path != "" {
		fmt.Fprintf(out, "Inspect it:   export KUBECONFIG=$PWD/%s; bin/tools/kubectl get ebs,eb -n %s\n", path, namespace)
	}
	switch d.place {
	case venueHost:
		fmt.Fprintln(out, "Clean up:     make cluster-down")
	case venueKind:
		fmt.Fprintln(out, "Clean up:     kind delete cluster --name "+kindCluster)
	case venueCurrent:
		fmt.Fprintf(out, "Clean up:     bin/tools/kubectl delete namespace %s; bin/tools/helm uninstall etcd-benchmark-operator -n etcdbench-system\n", namespace)
	}
}

// command runs a program. Its output is part of the demo's progress.
func (d *demo) command(ctx context.Context, name string, args ...string) error {
	if err := d.prepare(ctx, name, args...).Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return nil
}

func (d *demo) prepare(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), "IMG="+d.image)
	if path := d.kubeconfig(); path != "" {
		cmd.Env = append(cmd.Env, "KUBECONFIG="+path, "CLUSTER="+path)
	}
	return cmd
}

// kubeconfig returns the file of the demo's own cluster, or "" for the user's cluster.
func (d *demo) kubeconfig() string {
	switch d.place {
	case venueHost:
		return "bin/cluster/kubeconfig"
	case venueKind:
		return "bin/demo/kubeconfig"
	default:
		return ""
	}
}
