package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run is one file. With two files, none may be skipped silently.
func TestRunTakesOneManifest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "puts.yaml")
	if err := os.WriteFile(file, []byte(puts), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"two files":           {"", []string{"-f", file, "-f", file}, "found -f 2 times, wanted it once: a run is one file. Run the files one after the other"},
		"two files, the long": {"", []string{"--filename", file, "-f=-"}, "found -f 2 times"},
		"two documents":       {puts + "---" + puts, []string{"-f", "-"}, "second document"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := call(tc.stdin, append([]string{"run", "--local", "--members", "1"}, tc.args...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) || c.out.String() != "" {
				t.Errorf("wanted %q and no result, got:\n%s%s", tc.want, c.err, c.out)
			}
		})
	}
}
