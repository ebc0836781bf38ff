package secrets

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Credentials are the content of a target's Secrets, or what a user of this machine gave in their place.
type Credentials struct {
	// TLS is nil for plain text. Auth has the keys that the store's row names, or none.
	TLS  *TLS
	Auth map[string]string
}

// Read reads the credentials that the store of a target takes. A target without a store is an etcd or a kine.
func Read(t plan.Target) (c Credentials, err error) {
	row, _ := cmp.Or(t.Datastore, spec.DefaultDatastore).Store()
	if t.TLS != nil && row.TLS {
		if c.TLS, err = ReadTLS(*t.TLS); err != nil {
			return c, err
		}
	}
	if t.Auth == nil {
		return c, nil
	}
	s := Secret{Name: t.Auth.SecretName, Dir: t.Auth.Dir, Given: t.Auth.Given}
	c.Auth = map[string]string{}
	for _, key := range row.Auth {
		if c.Auth[key], err = s.Text(key); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Secret is a folder into which a Secret is mounted, or what a user of this machine gave in its place. The folder is
// empty if the Secret does not exist.
type Secret struct {
	Name, Dir string
	Given     plan.Given
}

// Text returns the content of a key that must exist, without the end of its line.
func (s Secret) Text(key string) (string, error) {
	f, err := s.required(key)
	return strings.TrimRight(string(f.data), "\r\n"), err
}

// file is the content of one key of a Secret, with its name for messages.
type file struct {
	name string
	data []byte
}

// called is what messages call a key that is missing.
func (s Secret) called(key string) string {
	if s.Given != nil {
		return "file " + key
	}
	return "key " + key
}

// source returns where the content of a key is; false if nothing was given for the key.
func (s Secret) source(key string) (plan.Source, bool) {
	if s.Given == nil {
		return plan.Source{Name: fmt.Sprintf("Secret %s key %s", s.Name, key), Path: filepath.Join(s.Dir, key)}, true
	}
	source, given := s.Given[key]
	return source, given
}

func (s Secret) required(key string) (file, error) {
	f, err := s.optional(key)
	switch {
	case err != nil:
		return file{}, err
	case f != nil && len(f.data) > 0:
		return *f, nil
	case f != nil:
		return file{}, invalid("%s is empty", f.name)
	case s.Given != nil:
		return file{}, invalid("the target needs a %s, and only this was given: %s", key, strings.Join(slices.Sorted(maps.Keys(s.Given)), ", "))
	case s.isEmpty():
		return file{}, invalid("Secret %s does not exist, or is empty; it must have the key %s", s.Name, key)
	}
	return file{}, invalid("Secret %s has no key %s", s.Name, key)
}

// optional returns nil if the Secret has no such key. A file that was given must exist.
func (s Secret) optional(key string) (*file, error) {
	source, given := s.source(key)
	if !given {
		return nil, nil
	}
	if source.Path == "" {
		return &file{source.Name, []byte(source.Content)}, nil
	}
	data, err := os.ReadFile(source.Path)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		// The name has the path.
		err = pathErr.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Given == nil:
		return nil, nil
	case err != nil:
		return nil, invalid("%s cannot be read: %w", source.Name, err)
	}
	return &file{source.Name, data}, nil
}

func (s Secret) isEmpty() bool {
	entries, err := os.ReadDir(s.Dir)
	return err != nil || len(entries) == 0
}

func invalid(format string, args ...any) error {
	return load.Errorf(results.FailureSecretInvalid, format, args...)
}
