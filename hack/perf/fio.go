package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// fioManifest appends as many entries as fio writes blocks, one after the other.
const fioManifest = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: fio}
spec:
  target: {datastore: Disk, disk: {}}
  workload: {type: Append, append: {entryBytes: %d}}
  load: {requests: %d}
  guard: {acknowledgeControlPlane: true}
`

// fioComparison compares the fdatasync times of runs that measure a disk with those of Debian's fio: the same block size, and a
// file of the same size whose space is allocated before. The two take turns.
type fioComparison struct {
	program, folder  string
	pairs            int
	entry, requested int
}

// runFio prints the ratio of each pair and their median. The second lowest and the second highest of ten are an interval of 98 %
// for the median.
func runFio(ctx context.Context, args []string, out io.Writer) error {
	c := fioComparison{entry: 2300}
	flags := flag.NewFlagSet("perf fio", flag.ContinueOnError)
	flags.StringVar(&c.program, "program", "bin/kubectl-etcdbench", "the plugin")
	flags.StringVar(&c.folder, "folder", "", "a folder on a disk")
	flags.IntVar(&c.pairs, "pairs", 10, "pairs of runs, at least 10")
	flags.IntVar(&c.requested, "requests", 2000, "flushes of each run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if c.folder == "" || c.pairs < 10 {
		return fmt.Errorf("wanted --folder with a folder on a disk, and 10 pairs or more, found %q and %d", c.folder, c.pairs)
	}
	var ratios []float64
	for i := range c.pairs {
		first, second := c.ours, c.fio
		if i%2 == 1 {
			first, second = second, first
		}
		a, err := first(ctx)
		if err != nil {
			return err
		}
		b, err := second(ctx)
		if err != nil {
			return err
		}
		if i%2 == 1 {
			a, b = b, a
		}
		ratios = append(ratios, a/b)
		fmt.Fprintf(out, "pair %d: median flush %.0f µs, fio %.0f µs, ratio %.3f\n", i+1, a, b, a/b)
	}
	slices.Sort(ratios)
	n := len(ratios)
	fmt.Fprintf(out, "median of %d ratios: %.3f, interval %.3f to %.3f\n", n, (ratios[(n-1)/2]+ratios[n/2])/2, ratios[1], ratios[n-2])
	return nil
}

// ours returns the median of Flush, in microseconds.
func (c fioComparison) ours(ctx context.Context) (float64, error) {
	cmd := exec.CommandContext(ctx, c.program, "run", "--local", "-f", "-", "--data-dir", c.folder, "-o", "json")
	cmd.Stdin = bytes.NewBufferString(fmt.Sprintf(fioManifest, c.entry, c.requested))
	data, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", c.program, err, data)
	}
	var run struct {
		Status struct {
			Summary struct {
				Operations []struct {
					Operation string
					Latency   struct{ P50Microseconds float64 }
				}
			}
		}
	}
	if err := json.Unmarshal(data, &run); err != nil {
		return 0, err
	}
	for _, o := range run.Status.Summary.Operations {
		if o.Operation == "Flush" {
			return o.Latency.P50Microseconds, nil
		}
	}
	return 0, fmt.Errorf("found no flushes in %s", data)
}

// fio returns the median of fdatasync, in microseconds.
func (c fioComparison) fio(ctx context.Context) (float64, error) {
	file := filepath.Join(c.folder, "fio.tmp")
	defer os.Remove(file)
	data, err := exec.CommandContext(ctx, "fio", "--name=etcd", "--filename="+file, "--rw=write", "--ioengine=sync", "--fdatasync=1",
		fmt.Sprint("--bs=", c.entry), "--filesize=64000000", "--fallocate=posix", fmt.Sprint("--io_size=", c.entry*c.requested), "--output-format=json").Output()
	if err != nil {
		return 0, fmt.Errorf("fio (apt-get install fio): %w", err)
	}
	var result struct {
		Jobs []struct {
			Sync struct {
				Lat struct{ Percentile map[string]float64 } `json:"lat_ns"`
			}
		}
	}
	if err := json.Unmarshal(data, &result); err != nil {
		return 0, err
	}
	if len(result.Jobs) != 1 || result.Jobs[0].Sync.Lat.Percentile["50.000000"] == 0 {
		return 0, fmt.Errorf("found no flushes in %s", data)
	}
	return result.Jobs[0].Sync.Lat.Percentile["50.000000"] / 1000, nil
}
