package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const installName = "install.yaml"

// writeInstall writes what `kubectl apply -k config/default` installs, with the image of the release.
func (r release) writeInstall() error {
	config, err := r.stageConfig()
	if err != nil {
		return err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(config, "/default")
	if err != nil {
		return err
	}
	content, err := objects.AsYaml()
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(installName), content, 0o644)
}

// stageConfig copies the manifests into memory, and sets the image there. config/default copies the image's name into an
// argument of the operator, so it has to be set there and not in an overlay.
func (r release) stageConfig() (filesys.FileSystem, error) {
	files, err := filesBelow(filepath.Join(r.root, "config"), "/")
	if err != nil {
		return nil, err
	}
	memory := filesys.MakeFsInMemory()
	for _, f := range files {
		if f.name == "/default/kustomization.yaml" {
			if f.content, err = r.withImage(f.content); err != nil {
				return nil, err
			}
		}
		if err := memory.WriteFile(f.name, f.content); err != nil {
			return nil, err
		}
	}
	return memory, nil
}

// withImage returns a kustomization with the image of the release.
func (r release) withImage(content []byte) ([]byte, error) {
	var k types.Kustomization
	if err := yaml.UnmarshalStrict(content, &k); err != nil {
		return nil, err
	}
	if len(k.Images) != 1 || k.Images[0].Name != defaultRepository {
		return nil, fmt.Errorf("wanted one image, %s, in config/default/kustomization.yaml, found %v", defaultRepository, k.Images)
	}
	k.Images[0] = types.Image{Name: defaultRepository, NewName: r.repository, NewTag: r.number()}
	return yaml.Marshal(k)
}
