package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

var update = flag.Bool("update", false, "rewrite the golden plans of older versions")

// golden is the file with the encoded example of a type of workload.
func golden(kind spec.WorkloadType) string {
	return filepath.Join("testdata", "plan", string(kind)+".json")
}

// A client pod refuses a plan of another version, and runs every plan of its own version. So each change of the format
// needs a new version.
func TestTheFormatChangesWithTheVersion(t *testing.T) {
	kinds, examples := tableOf(t), examples()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			p, ok := examples[kind]
			if !ok {
				t.Fatalf("wanted an example of %s to encode, found none", kind)
			}
			got, err := p.Encode()
			if err == nil {
				err = checkGolden(golden(kind), append(got, '\n'), *update)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	files, err := filepath.Glob(golden("*"))
	if err != nil || len(files) == 0 {
		t.Errorf("found %d golden plans: %v", len(files), err)
	}
	for _, file := range files {
		if kind := strings.TrimSuffix(filepath.Base(file), ".json"); !slices.Contains(kinds, spec.WorkloadType(kind)) {
			t.Errorf("%s has no workload any more: raise plan.Version and remove the file", file)
		}
	}
}

// tableOf returns the types of all workloads. The error about an unknown type lists them.
func tableOf(t *testing.T) (kinds []spec.WorkloadType) {
	t.Helper()
	_, list, _ := strings.Cut(fmt.Sprint(new(workload.Run).Check()), "one of [")
	list, _, ok := strings.Cut(list, "]")
	for _, kind := range strings.Fields(list) {
		kinds = append(kinds, spec.WorkloadType(kind))
	}
	if !ok || !slices.Contains(kinds, spec.WorkloadPut) {
		t.Fatalf("wanted the types of workloads, found %v", kinds)
	}
	return kinds
}

// checkGolden compares an encoded plan with its golden file, byte by byte. With update it writes the file if it is new or
// of an older version.
func checkGolden(path string, got []byte, update bool) error {
	const rewrite = "go test ./internal/plan -run TheFormat -update"
	want, err := os.ReadFile(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil && !update:
		return fmt.Errorf("there is no golden plan %s: write it with %s", path, rewrite)
	case bytes.Equal(want, got):
		return nil
	case err == nil:
		var of struct{ Version int }
		if err := json.Unmarshal(want, &of); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		diff := cmp.Diff(string(want), string(got))
		if of.Version >= Version {
			return fmt.Errorf("the plan's format changed, but plan.Version is still %d: raise it, then rewrite the golden plans with %s (-%s +encoded):\n%s", Version, rewrite, path, diff)
		}
		if !update {
			return fmt.Errorf("plan.Version is %d, but this golden plan has version %d: rewrite it with %s (-%s +encoded):\n%s", Version, of.Version, rewrite, path, diff)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, got, 0o644)
}

func TestCheckGolden(t *testing.T) {
	of := func(version int, name string) []byte {
		return fmt.Appendf(nil, `{"version": %d, "name": %q}`, version, name)
	}
	now := of(Version, "now")
	tests := map[string]struct {
		before []byte
		update bool
		// want is a part of the error; empty means no error. after is the content of the file after the call.
		want  string
		after []byte
	}{
		"the same":                      {now, false, "", now},
		"the same, updated":             {now, true, "", now},
		"missing":                       {nil, false, "there is no golden plan", nil},
		"new":                           {nil, true, "", now},
		"of this version":               {of(Version, "then"), false, "the plan's format changed, but plan.Version is still", of(Version, "then")},
		"of this version, updated":      {of(Version, "then"), true, "the plan's format changed, but plan.Version is still", of(Version, "then")},
		"of a later version, updated":   {of(Version+1, "now"), true, "the plan's format changed, but plan.Version is still", of(Version+1, "now")},
		"of the version before":         {of(Version-1, "now"), false, "rewrite it with", of(Version-1, "now")},
		"of the one before, updated":    {of(Version-1, "now"), true, "", now},
		"of no version, updated":        {[]byte("{"), true, "unexpected end", []byte("{")},
		"different in its last newline": {append(of(Version, "now"), '\n'), false, "the plan's format changed", append(of(Version, "now"), '\n')},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plan", "Put.json")
			if tc.before != nil {
				if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o755), os.WriteFile(path, tc.before, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			err := checkGolden(path, now, tc.update)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, wanted one that says %q", err, tc.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, tc.after) {
				t.Errorf("the file is %s, wanted %s", after, tc.after)
			}
		})
	}
}

// A field that is set in no golden plan, and omitted if unset, could change without a failing test.
func TestGoldenPlansHaveEveryField(t *testing.T) {
	has := map[string]bool{}
	for _, kind := range tableOf(t) {
		data, err := os.ReadFile(golden(kind))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(bytes.TrimSpace(data))
		if err != nil {
			t.Fatalf("%s: %v", golden(kind), err)
		}
		note(has, reflect.ValueOf(p), true)
	}
	for _, field := range slices.Sorted(maps.Keys(has)) {
		if !has[field] {
			t.Errorf("no golden plan has %s: set it in an example", field)
		}
	}
}

// note records every field of a value, recursively, and whether the encoded value has it. there is false for a value that
// exists only to visit its fields.
func note(has map[string]bool, v reflect.Value, there bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v, there = reflect.New(v.Type().Elem()), false
		}
		note(has, v.Elem(), there)
	case reflect.Slice:
		for i := range v.Len() {
			note(has, v.Index(i), there)
		}
		note(has, reflect.Zero(v.Type().Elem()), false)
	case reflect.Struct:
		for f, value := range v.Fields() {
			name, isThere := v.Type().String()+"."+f.Name, there && !(value.IsZero() && strings.Contains(f.Tag.Get("json"), "omit"))
			has[name] = has[name] || isThere
			note(has, value, isThere)
		}
	}
}
