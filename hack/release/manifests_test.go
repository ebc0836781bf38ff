package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

func TestTheChartHasTheVersionOfTheRelease(t *testing.T) {
	r := packed(t)
	files, err := untar(readFile(t, r.path("etcd-benchmark-operator-9.8.7-rc.1.tgz")))
	if err != nil {
		t.Fatal(err)
	}
	chart, values := map[string]any{}, struct {
		Image struct{ Repository, Tag string }
	}{}
	for _, f := range files {
		switch f.name {
		case "etcd-benchmark-operator/Chart.yaml":
			err = yaml.Unmarshal(f.content, &chart)
		case "etcd-benchmark-operator/values.yaml":
			err = yaml.Unmarshal(f.content, &values)
		}
		if err != nil {
			t.Fatal(f.name, err)
		}
	}
	if chart["version"] != "9.8.7-rc.1" || chart["appVersion"] != "9.8.7-rc.1" {
		t.Errorf("wanted version and appVersion 9.8.7-rc.1, found %v and %v", chart["version"], chart["appVersion"])
	}
	// The chart's default tag is its appVersion.
	if values.Image.Repository != r.repository || values.Image.Tag != "" {
		t.Errorf("wanted the image %s without tag, found %+v", r.repository, values.Image)
	}
}

func TestInstallNamesTheImageOfTheRelease(t *testing.T) {
	const want = "registry.example.org/team/operator:9.8.7-rc.1"
	r := packed(t)
	for document := range bytes.SplitSeq(readFile(t, r.path("install.yaml")), []byte("\n---\n")) {
		var d appsv1.Deployment
		if err := yaml.Unmarshal(document, &d); err != nil {
			t.Fatal(err)
		}
		if d.Kind != "Deployment" {
			continue
		}
		c := d.Spec.Template.Spec.Containers[0]
		if c.Image != want || !slices.Contains(c.Args, "--client-image="+want) {
			t.Errorf("wanted the image %s also for client pods, found %s and %v", want, c.Image, c.Args)
		}
		return
	}
	t.Error("wanted a Deployment, found none")
}

func TestKrewsManifestNamesEachArchive(t *testing.T) {
	r := packed(t)
	if err := r.checkKrew(); err != nil {
		t.Fatal(err)
	}
	content := string(readFile(t, r.path("etcdbench.yaml")))
	for _, part := range []string{
		"https://example.org/files/v9.8.7-rc.1/kubectl-etcdbench_v9.8.7-rc.1_linux_amd64.tar.gz\n",
		"https://example.org/files/v9.8.7-rc.1/kubectl-etcdbench_v9.8.7-rc.1_windows_arm64.zip\n",
		"bin: kubectl-etcdbench.exe\n", "version: v9.8.7-rc.1\n",
	} {
		if !strings.Contains(content, part) {
			t.Errorf("wanted %q in\n%s", part, content)
		}
	}
}

func TestCheckKrew(t *testing.T) {
	r := packed(t)
	good := string(readFile(t, r.path(krewName)))
	sum, err := sumOf(r.path(r.archiveName(platform{"darwin", "arm64"})))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ before, after, wantErr string }{
		"another version of the format": {"v1alpha2", "v1", "krew's apiVersion"},
		"another kind":                  {"kind: Plugin", "kind: Index", "wanted kind Plugin"},
		"a version without v":           {"version: v9", "version: 9", "a semantic version with v"},
		"a name with a dot":             {"name: etcdbench", "name: etcd.bench", "a name of letters"},
		"no short description":          {"shortDescription: B", "shortDescription: '' #", "a short description"},
		"an unknown field":              {"homepage:", "homepages:", "homepages"},
		"no checksum":                   {sum, "", "a SHA-256 sum"},
		"the checksum of another file":  {sum, strings.Repeat("0", 64), "wanted the checksum " + sum},
		"an address without TLS":        {"https://example.org", "http://example.org", "an https address"},
		"the address of another file":   {"_darwin_arm64.tar", "_darwin_arm.tar", "wanted the address of"},
		"an unknown label":              {"arch: arm64", "cpu: arm64", "the labels os and arch"},
		"another platform":              {"os: darwin", "os: plan9", "wanted the platform darwin/amd64"},
		"a program that is not there":   {"bin: kubectl-etcdbench\n", "bin: kubectl-bench\n", "wanted an executable kubectl-bench"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(good, tc.before, tc.after, 1)
			if changed == good {
				t.Fatalf("the manifest has no %q", tc.before)
			}
			writeFile(t, r.path(krewName), changed)
			if err := r.checkKrew(); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("wanted an error with %q, found %v", tc.wantErr, err)
			}
		})
	}
}

func TestTheBillListsTheModulesOfEachProgram(t *testing.T) {
	r := packed(t)
	var bill cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(readFile(t, r.path(billName))), cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{bill.Metadata.Component.BOMRef: true}
	for _, c := range *bill.Components {
		known[c.BOMRef] = true
	}
	uses := map[string][]string{}
	for _, d := range *bill.Dependencies {
		uses[d.Ref] = *d.Dependencies
		for _, ref := range append(uses[d.Ref], d.Ref) {
			if !known[ref] {
				t.Errorf("the dependencies name %s, which is no component", ref)
			}
		}
	}
	if got := uses[bill.Metadata.Component.BOMRef]; !slices.Equal(got, []string{"kubectl-etcdbench", "manager"}) {
		t.Errorf("wanted both programs, found %v", got)
	}
	for _, prefix := range []string{"pkg:golang/stdlib@1.", "pkg:golang/github.com/google/go-containerregistry@v0."} {
		if !slices.ContainsFunc(uses["manager"], func(ref string) bool { return strings.HasPrefix(ref, prefix) }) {
			t.Errorf("wanted a module %s…, found %v", prefix, uses["manager"])
		}
	}
}
