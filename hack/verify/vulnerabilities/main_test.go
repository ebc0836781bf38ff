package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const govulncheck = "../../../bin/tools/govulncheck"

// write creates a file and its folders.
func write(t *testing.T, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// program is the checked module. It calls strings.ToUpper.
func program(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, "module example.org/program\n\ngo 1.26.0\n", dir, "go.mod")
	write(t, "package main\n\nimport \"strings\"\n\nfunc main() { println(strings.ToUpper(\"a\")) }\n", dir, "main.go")
	return dir
}

// databaseOf has one vulnerability, in a function of the package strings.
func databaseOf(t *testing.T, symbol string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const modified = `"modified":"2026-01-01T00:00:00Z"`
	write(t, `{`+modified+`}`, dir, "index", "db.json")
	write(t, `[{"id":"GO-2026-0001",`+modified+`}]`, dir, "index", "vulns.json")
	write(t, `[{"path":"stdlib","vulns":[{"id":"GO-2026-0001",`+modified+`}]}]`, dir, "index", "modules.json")
	write(t, `{"schema_version":"1.3.1","id":"GO-2026-0001",`+modified+`,"published":"2026-01-01T00:00:00Z","summary":"made for a test",
		"database_specific":{"url":"https://vulnerabilities.example.org/GO-2026-0001","review_status":"REVIEWED"},
		"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
		"ecosystem_specific":{"imports":[{"path":"strings","symbols":["`+symbol+`"]}]}}]}`, dir, "ID", "GO-2026-0001.json")
	return dir
}

func TestAVulnerabilityThatIsCalledFails(t *testing.T) {
	var output strings.Builder
	c := check{packages: []string{"./..."}, govulncheck: govulncheck, dir: program(t), database: "file://" + databaseOf(t, "ToUpper"), output: &output}
	if err := c.run(t.Context()); err == nil || !strings.Contains(output.String(), "Your code is affected by 1 vulnerability") {
		t.Errorf("wanted a failure that names GO-2026-0001, found %v and:\n%s", err, output.String())
	}
}

func TestAVulnerabilityThatIsNotCalledPasses(t *testing.T) {
	var output strings.Builder
	c := check{packages: []string{"./..."}, govulncheck: govulncheck, dir: program(t), database: "file://" + databaseOf(t, "ToTitle"), output: &output}
	if err := c.run(t.Context()); err != nil || strings.Contains(output.String(), "NOT checked") {
		t.Errorf("wanted it to be checked and to pass, found %v and:\n%s", err, output.String())
	}
}

// If the database can be reached, a failed check is an error.
func TestAnUnreadableModuleFails(t *testing.T) {
	dir := program(t)
	write(t, "package main\n\nfunc main() { missing() }\n", dir, "main.go")
	var output strings.Builder
	c := check{packages: []string{"./..."}, govulncheck: govulncheck, dir: dir, database: "file://" + databaseOf(t, "ToTitle"), output: &output}
	if err := c.run(t.Context()); err == nil {
		t.Errorf("wanted a failure, found:\n%s", output.String())
	}
}

func TestAnUnreachableDatabaseIsReported(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	empty := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(empty.Close)
	for name, database := range map[string]string{
		"no folder": "file://" + filepath.Join(t.TempDir(), "none"), "no listener": gone.URL, "no database": empty.URL, "no URL": "vuln.go.dev",
	} {
		t.Run(name, func(t *testing.T) {
			var output strings.Builder
			// The missing program shows that it is not called.
			c := check{govulncheck: "none", database: database, output: &output}
			if err := c.run(t.Context()); err != nil {
				t.Errorf("wanted the rest of the checks to go on, found %v", err)
			}
			if text := output.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "NOT checked") || !strings.Contains(text, database) {
				t.Errorf("wanted one line that reports the unreachable database, found:\n%s", text)
			}
		})
	}
}

func TestAReachableDatabase(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(databaseOf(t, "ToTitle"))))
	t.Cleanup(server.Close)
	if err := reach(t.Context(), server.URL+"/"); err != nil {
		t.Error(err)
	}
}
