package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// imageListName is the list of images for clusters without access to public registries.
const imageListName = "images.txt"

// writeImageList writes the image of the release, and those of the members that samples start.
func (r release) writeImageList() error {
	members, err := memberImages(os.DirFS(filepath.Join(r.root, "config", "samples")))
	if err != nil {
		return err
	}
	all := append([]string{r.image()}, members...)
	return os.WriteFile(r.path(imageListName), []byte(strings.Join(all, "\n")+"\n"), 0o644)
}

// memberImages returns the images in manifests, sorted.
func memberImages(manifests fs.FS) ([]string, error) {
	images := map[string]bool{}
	err := fs.WalkDir(manifests, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		content, err := fs.ReadFile(manifests, path)
		if err != nil {
			return err
		}
		for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content)); ; {
			var object any
			if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			collectImages(object, images)
		}
	})
	return slices.Sorted(maps.Keys(images)), err
}

func collectImages(value any, images map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if image, ok := field.(string); ok && key == "image" {
				images[image] = true
			}
			collectImages(field, images)
		}
	case []any:
		for _, item := range v {
			collectImages(item, images)
		}
	}
}
