package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/lines"
)

// destination is where one form of the result goes.
type destination struct {
	form form
	// path of a file; empty is standard output.
	path string

	// open sets the fields below. file is nil for standard output.
	file *os.File
	// created: open created the file.
	created bool
	// lines writes the form that is written during the run.
	lines *lines.Writer
}

// destinations are where the result of a run goes.
type destinations []*destination

// standardOutput is the file name that means standard output, as - means standard input for -f.
const standardOutput = "-"

// parseDestinations reads FORM or FORM=FILE of each --output. If no other form goes to standard output, the table is
// printed there.
func parseDestinations(outputs []string, forms []form) (destinations, error) {
	all, err := parseOutputs(outputs, forms)
	if err == nil && !slices.ContainsFunc(all, func(d *destination) bool { return d.path == "" }) {
		table, _ := formOf(forms, outputTable)
		all = append(all, &destination{form: table})
	}
	return all, err
}

// parseOutputs reads FORM or FORM=FILE of each --output.
func parseOutputs(outputs []string, forms []form) (destinations, error) {
	var all destinations
	toStandardOutput := 0
	for _, output := range outputs {
		name, path, named := strings.Cut(output, "=")
		if path == standardOutput {
			path, named = "", false
		}
		form, known := formOf(forms, name)
		switch {
		case !known:
			return nil, fmt.Errorf("--output: wanted %s, found %q", namesText(forms), name)
		case named && path == "":
			return nil, fmt.Errorf("--output: wanted a file after %q, found nothing", output)
		case !named:
			toStandardOutput++
		case all.has(path):
			return nil, fmt.Errorf("--output: wanted another file for %s, found %s twice: write each form to its own file", name, path)
		}
		all = append(all, &destination{form: form, path: path})
	}
	if toStandardOutput > 1 {
		return nil, fmt.Errorf("--output: wanted at most one form on standard output, found %d: write the others to files, as FORM=FILE", toStandardOutput)
	}
	return all, nil
}

// has reports whether one of them is the file.
func (all destinations) has(path string) bool {
	return slices.ContainsFunc(all, func(d *destination) bool { return d.path != "" && isSameFile(d.path, path) })
}

// isSameFile reports whether two paths lead to one file, which need not exist.
func isSameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// haveLines reports whether one of them is written during the run.
func (all destinations) haveLines() bool {
	return slices.ContainsFunc(all, func(d *destination) bool { return d.form.name == outputLines })
}

// haveDocuments reports whether one of them shows the runs of a suite.
func (all destinations) haveDocuments() bool {
	return slices.ContainsFunc(all, func(d *destination) bool { return d.form.make != nil })
}

// check refuses, before it runs, a suite that one of them cannot show. s is nil for a run.
func (all destinations) check(s *v1alpha1.EtcdBenchmarkSuite) error {
	for _, d := range all {
		if d.form.check == nil {
			continue
		}
		if err := d.form.check(s); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	return nil
}

// printed is the form that goes to standard output.
func (all destinations) printed() string {
	for _, d := range all {
		if d.path == "" {
			return d.form.name
		}
	}
	return outputTable
}

// open opens the files before the run, to find a file that cannot be written. Existing content is kept until the result
// is written.
func (all destinations) open(stdout io.Writer, f following) error {
	for _, d := range all {
		out, err := d.open(stdout)
		if err != nil {
			all.discard()
			return fmt.Errorf("--output: %w", err)
		}
		if d.form.name == outputLines {
			d.lines = lines.New(out, f.interval)
		}
	}
	return nil
}

func (d *destination) open(stdout io.Writer) (out io.Writer, err error) {
	if d.path == "" {
		return stdout, nil
	}
	d.file, err = os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	d.created = err == nil
	if errors.Is(err, os.ErrExist) {
		d.file, err = os.OpenFile(d.path, os.O_WRONLY, 0o644)
	}
	if err == nil && d.form.name == outputLines {
		err = d.empty()
	}
	return d.file, err
}

// empty truncates a regular file. It does nothing for others, such as a pipe.
func (d *destination) empty() error {
	info, err := d.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return d.file.Truncate(0)
}

// show passes a state of the run to the forms that are written during the run.
func (all destinations) show(run *v1alpha1.EtcdBenchmark) {
	for _, d := range all {
		if d.lines != nil {
			d.lines.Show(run)
		}
	}
}

// write writes a result in all forms, also after an error, and closes the files.
func (all destinations) write(stdout io.Writer, write func(form, io.Writer) error) error {
	var errs []error
	for _, d := range all {
		switch {
		case d.lines != nil:
			errs = append(errs, d.lines.Err())
		case d.file == nil:
			errs = append(errs, write(d.form, stdout))
		default:
			errs = append(errs, d.empty(), write(d.form, d.file))
		}
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}

func (d *destination) close() error {
	if d.file == nil {
		return nil
	}
	err := d.file.Close()
	d.file = nil
	return err
}

// discard closes the files of a run that has no result. It removes those that open created and that are still empty.
func (all destinations) discard() {
	for _, d := range all {
		if d.file == nil {
			continue
		}
		info, err := d.file.Stat()
		_ = d.close()
		if d.created && err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			_ = os.Remove(d.path)
		}
	}
}
