// Command vulnerabilities runs govulncheck on packages, with the database in GOVULNDB, or Go's own:
//
//	go run ./hack/verify/vulnerabilities ./... ./hack/...
//
// It imports the standard library only, and runs the program in bin/tools. It passes if no known vulnerability is
// called, or if the database cannot be reached; then it prints one line that says that nothing was checked.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	database = "https://vuln.go.dev"
	// reachTimeout bounds the check whether the database can be reached.
	reachTimeout = 15 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := check{packages: os.Args[1:], govulncheck: filepath.Join("bin", "tools", "govulncheck"), database: cmp.Or(os.Getenv("GOVULNDB"), database), output: os.Stdout}
	if err := c.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "vulnerabilities:", err)
		os.Exit(1)
	}
}

// check is one check of packages.
type check struct {
	packages []string
	// govulncheck is the path of the program. dir is the folder in which it runs, or "" for this one.
	govulncheck, dir string
	// database is a URL with the scheme http, https or file.
	database string
	output   io.Writer
}

// run returns an error if a known vulnerability is called, or if the check failed although the database can be reached.
func (c check) run(ctx context.Context) error {
	if err := reach(ctx, c.database); err != nil {
		// One line, for every reason.
		fmt.Fprintf(c.output, "known vulnerabilities were NOT checked: the database %s cannot be reached (%s); set GOVULNDB to use another\n",
			c.database, strings.Join(strings.Fields(err.Error()), " "))
		return nil
	}
	program, err := filepath.Abs(c.govulncheck)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"-db=" + c.database}, c.packages...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, c.output, c.output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("found calls of known vulnerabilities, listed above: update the modules: %w", err)
	}
	return nil
}

// reach requests the file that every database has.
func reach(ctx context.Context, database string) error {
	location, err := url.Parse(database)
	if err != nil {
		return err
	}
	switch location.Scheme {
	case "file":
		_, err := os.Stat(filepath.Join(filepath.FromSlash(location.Path), "index", "db.json"))
		return err
	case "http", "https":
		return get(ctx, location.JoinPath("index", "db.json"))
	}
	return errors.New("wanted a URL of https, http or file")
}

func get(ctx context.Context, location *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, location.String(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("wanted status 200, found %s", response.Status)
	}
	return nil
}
