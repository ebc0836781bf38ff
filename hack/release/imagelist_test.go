package main

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of images into docs/install.md")

// The documentation has the images of the list that are not ours.
func TestTheListOfImages(t *testing.T) {
	r := packed(t)
	lines := strings.Split(strings.TrimSuffix(string(readFile(t, r.path(imageListName))), "\n"), "\n")
	if lines[0] != r.image() || !slices.Contains(lines, "gcr.io/etcd-development/etcd:v3.7.3") {
		t.Errorf("wanted the operator's image and those of samples, found %q", lines)
	}
	const page, begin, end = "../../docs/install.md", "<!-- images -->\n", "<!-- end of images -->"
	before, rest, found := strings.Cut(string(readFile(t, page)), begin)
	_, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("%s lacks %s… %s", page, begin, end)
	}
	want := before + begin + "```\n" + strings.Join(lines[1:], "\n") + "\n```\n" + end + after
	if *update {
		writeFile(t, page, want)
	}
	if got := string(readFile(t, page)); got != want {
		t.Errorf("%s has other images than the samples: go test ./hack/release -run TheListOfImages -update", page)
	}
}
