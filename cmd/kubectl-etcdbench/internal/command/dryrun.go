package command

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// The values of --dry-run. dryRunAuto is dryRunClient with --local and dryRunServer otherwise.
const (
	dryRunAuto   = "auto"
	dryRunClient = "client"
	dryRunServer = "server"
)

func (f *runFlags) addDryRun(flags *pflag.FlagSet) {
	flags.StringVar(&f.dryRun, "dry-run", "", "check the manifest and print what would be created, without "+
		"creating or running it. `MODE` is server (the API server checks it, with its policies and quotas) or "+
		"client (this command checks it, without a cluster). auto is client with --local, otherwise server. -o "+
		"yaml (the default) or -o json is the form")
	flags.Lookup("dry-run").NoOptDefVal = dryRunAuto
}

// checkDryRun checks --dry-run, and replaces the default.
func (f *runFlags) checkDryRun() error {
	switch {
	case f.dryRun == "":
		return nil
	case f.dryRun == dryRunAuto && f.local:
		f.dryRun = dryRunClient
	case f.dryRun == dryRunAuto:
		f.dryRun = dryRunServer
	case f.dryRun == dryRunServer && f.local:
		return errors.New("--dry-run=server asks an API server, and a run with --local uses none: remove one of them")
	case f.dryRun != dryRunClient && f.dryRun != dryRunServer:
		return fmt.Errorf("--dry-run: wanted client, server or auto, found %q", f.dryRun)
	}
	if len(f.outputs) > 1 || len(f.outputs) == 1 && f.outputs[0] != outputJSON && f.outputs[0] != outputYAML {
		return fmt.Errorf("--output: --dry-run writes -o yaml or -o json to standard output, found %q", f.outputs)
	}
	return nil
}

// dryRun checks a manifest and prints the object that would be created.
func (t *tool) dryRun(f *runFlags, m *manifest.Manifest) error {
	object, err := t.checkedObject(f, m)
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(object, "status")
	for _, field := range []string{"uid", "creationTimestamp", "generation", "managedFields", "resourceVersion"} {
		unstructured.RemoveNestedField(object, "metadata", field)
	}
	data, err := yaml.Marshal(object)
	if len(f.outputs) > 0 && f.outputs[0] == outputJSON {
		if data, err = json.MarshalIndent(object, "", "  "); err == nil {
			data = append(data, '\n')
		}
	}
	if err != nil {
		return err
	}
	if _, err := t.Out.Write(data); err != nil {
		return err
	}
	by := "This command accepts the manifest"
	if f.dryRun == dryRunServer {
		by = "The API server accepts the manifest"
	}
	fmt.Fprintln(t.Err, by+". Nothing was created or run.")
	return nil
}

// checkedObject returns the object that would be created.
func (t *tool) checkedObject(f *runFlags, m *manifest.Manifest) (map[string]any, error) {
	switch {
	case f.dryRun == dryRunServer:
		return t.tried(f, m)
	case m.IsSuite():
		return t.admittedSuite(f, m)
	}
	admit := f.admittedHere
	if !f.local {
		admit = func(m *manifest.Manifest) (*v1alpha1.EtcdBenchmark, error) { return admitted(admission.Runs, m) }
	}
	run, err := admit(m)
	if err != nil {
		return nil, err
	}
	return asObject(run, m)
}

// tried asks the API server.
func (t *tool) tried(f *runFlags, m *manifest.Manifest) (map[string]any, error) {
	cluster, err := t.inCluster(m)
	if err != nil {
		return nil, err
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	if m.IsSuite() {
		if err := t.checkBeforeCreation(f, m); err != nil {
			return nil, err
		}
		err = follow.Suites.Try(ctx, cluster, m.Object)
	} else if err = f.checkEndpoints(m); err == nil {
		err = follow.Runs.Try(ctx, cluster, m.Object)
	}
	if err != nil {
		return nil, m.Explain(err)
	}
	return m.Object.Object, nil
}

// admittedSuite checks a suite and all of its cells.
func (t *tool) admittedSuite(f *runFlags, m *manifest.Manifest) (map[string]any, error) {
	s, err := admitted(admission.Suites, m)
	if err != nil {
		return nil, err
	}
	check := t.checked
	if f.local {
		check = t.checkedHere
	}
	if _, err := check(f, m, s); err != nil {
		return nil, err
	}
	return asObject(s, m)
}

// asObject returns an admitted object with the kind of its manifest.
func asObject(admitted any, m *manifest.Manifest) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(admitted)
	if err != nil {
		return nil, fmt.Errorf("writing the checked object: %w", err)
	}
	object["apiVersion"], object["kind"] = m.Object.GetAPIVersion(), m.Object.GetKind()
	return object, nil
}
