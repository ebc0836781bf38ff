package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/access"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const cleanExample = `  # List what killed runs left in an etcd
  kubectl etcdbench clean --endpoints 10.0.0.1:2379

  # Remove what lies under one prefix
  kubectl etcdbench clean --endpoints 10.0.0.1:2379 etcdbench/1a2b3c4d/

  # Remove all that no run uses
  kubectl etcdbench clean --endpoints 10.0.0.1:2379 --yes`

const cleanHelp = `Lists what lies under etcdbench/ in an etcd or another store. A run deletes its keys at its
end; a run that was killed leaves them. With PREFIX, removes what lies under these prefixes;
that needs no --yes. With --yes alone, removes all that no run uses.

A prefix is removed only if all of this holds:
  - It has the marker of a run, which names the run's UID.
  - No unfinished EtcdBenchmark of the cluster has this UID. The cluster is that of the
    current context, or of --context. Without a cluster, this is not checked, and the
    command says so.
  - It has not changed for 60 s and the time-out of the run's requests: the command
    watches it for that time. Each client pod of a run, with or without a cluster, changes
    a key every 20 s, also if its load only reads. It sends nothing if it could not do so
    for 40 s.

Only keys that a run can have written are deleted. First the client pods lose the right to
write. Each deletion then checks that the run owns the prefix, and spares what was written
since. If other keys are left, the marker stays.

Without --endpoints, the addresses are those of the finished runs of the namespace (-n)
whose keys were not deleted. The flags ` + accessHelp + `

Exit status 0: the list is complete, or all that was requested is removed. 2: something
was left alone, or the command failed. 3: it was interrupted.`

// cleanRoot is the prefix of all default prefixes of runs.
const cleanRoot = "etcdbench/"

// leastQuiet is how long a prefix must not have changed, beside the time-out of its run's requests.
var leastQuiet = plan.StillFor(0)

// cleanFlags are the flags of clean. Those for the target are the same as in run --local.
type cleanFlags struct {
	target runFlags
	store  string
	all    bool
	quiet  time.Duration
}

func (t *tool) cleanCommand() *cobra.Command {
	f := &cleanFlags{}
	cmd := &cobra.Command{
		Use:     "clean [PREFIX...]",
		Short:   "List what killed runs left in an etcd, and remove it",
		Long:    cleanHelp,
		Example: cleanExample,
		RunE: func(_ *cobra.Command, args []string) error {
			err := t.clean(f, args)
			return f.adviceOf().Error(err)
		},
	}
	flags := cmd.Flags()
	f.target.given, f.target.local = flags.Changed, true
	flags.StringSliceVar(&f.target.access.Endpoints, "endpoints", nil, "addresses of the store, as `HOST:PORT,...`")
	f.target.access.Define(flags, "")
	f.target.access.DefineToken(flags, "")
	flags.StringVar(&f.store, "datastore", "", fmt.Sprintf("the store, one of %v (default an etcd or a kine)", storesWithKeys()))
	flags.BoolVar(&f.all, "yes", false, "remove all prefixes that no run uses")
	flags.DurationVar(&f.quiet, "unchanged-for", leastQuiet, "remove only what has not changed for this time, at least "+leastQuiet.String()+"; longer for a run with a long request time-out")
	t.kube.addTo(flags)
	return cmd
}

// storesWithKeys are those in which runs can leave keys.
func storesWithKeys() []spec.Datastore {
	return slices.DeleteFunc(spec.Datastores(), func(d spec.Datastore) bool {
		row, _ := d.Store()
		return row.Folder
	})
}

func (f *cleanFlags) check(prefixes []string) error {
	switch {
	case f.all && len(prefixes) > 0:
		return errors.New("--yes removes all prefixes: remove it, or name no prefix")
	case f.store != "" && !slices.Contains(storesWithKeys(), spec.Datastore(f.store)):
		return fmt.Errorf("--datastore: wanted one of %v, found %q", storesWithKeys(), f.store)
	case f.quiet < leastQuiet:
		return fmt.Errorf("--unchanged-for: wanted %s or more, found %s: a client pod that cannot change its key may still write for that long", leastQuiet, f.quiet)
	}
	return nil
}

func (t *tool) clean(f *cleanFlags, prefixes []string) error {
	if err := f.check(prefixes); err != nil {
		return err
	}
	if err := t.reach(&f.target); err != nil {
		return err
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	owners := t.owners(ctx, spec.Datastore(f.store))
	if len(f.target.access.Endpoints) == 0 {
		var err error
		if f.target.access.Endpoints, err = owners.endpoints(); err != nil {
			return err
		}
	}
	target, err := f.planTarget()
	if err != nil {
		return err
	}
	c := &cleaner{tool: t, leftovers: datastore.Leftovers(target), owners: owners, quiet: f.quiet}
	defer c.leftovers.Close()
	err = c.run(ctx, f.all, prefixes)
	if ctx.Err() != nil && err != nil {
		return &exitError{exitUnknown, errors.New("interrupted: what was not yet reported as removed was left alone")}
	}
	return err
}

// planTarget returns the target of the flags.
func (f *cleanFlags) planTarget() (target plan.Target, err error) {
	given := f.target.access
	for _, e := range given.Endpoints {
		switch problem := access.Problem(e); {
		case problem != "":
			return target, fmt.Errorf("%s: %s", given.EndpointsBy(), problem)
		case strings.HasPrefix(e, "https://") && given.TLSBy() == "":
			return target, fmt.Errorf("%s: %s needs a CA certificate: add --cacert", given.EndpointsBy(), e)
		}
	}
	target.Datastore, target.Endpoints = spec.Datastore(f.store), v1alpha1.HostPorts(given.Endpoints)
	if files := given.TLS(); files != nil {
		target.TLS = &plan.TLS{Given: files, ServerName: given.ServerName}
	}
	if err := given.CheckStore(target.Datastore); err != nil {
		return target, err
	}
	if files := given.User(); files != nil {
		target.Auth = &plan.Auth{Given: files}
	}
	if row, named := target.Datastore.Store(); named && (!row.TLS && target.TLS != nil || len(row.Auth) == 0 && target.Auth != nil) {
		return target, fmt.Errorf("%s is reached in plain text and without a user: remove the flags and variables for TLS and user", target.Datastore)
	}
	return target, datastore.CheckCredentials(target)
}

// cleaner lists and removes leftovers.
type cleaner struct {
	*tool
	leftovers *ownership.Leftovers
	owners    *owners
	quiet     time.Duration
}

func (c *cleaner) run(ctx context.Context, all bool, prefixes []string) error {
	found, err := c.leftovers.List(ctx, cleanRoot)
	if err != nil {
		return err
	}
	if all {
		for _, l := range found {
			if c.owners.obstacle(l) == "" {
				prefixes = append(prefixes, l.Prefix)
			}
		}
	}
	if len(prefixes) == 0 {
		return c.list(found)
	}
	chosen, err := c.chosen(ctx, found, prefixes)
	if err != nil {
		return err
	}
	return c.removeAll(ctx, chosen)
}

// list prints the leftovers.
func (c *cleaner) list(found []ownership.Leftover) error {
	fmt.Fprintln(c.Err, c.owners.checked)
	if len(found) == 0 {
		fmt.Fprintf(c.Err, "Found no keys under %s.\n", cleanRoot)
		return nil
	}
	if err := writeLeftovers(c.Out, found, c.owners, time.Now()); err != nil {
		return err
	}
	removable := 0
	for _, l := range found {
		if c.owners.obstacle(l) == "" {
			removable++
		}
	}
	if removable > 0 {
		fmt.Fprintf(c.Err, "To remove one, add its PREFIX to the command. To remove all that are not in use, add --yes. A prefix that changes within %s is left alone.\n", c.quiet)
	}
	return nil
}

func writeLeftovers(out io.Writer, found []ownership.Leftover, o *owners, now time.Time) error {
	w := printers.GetNewTabWriter(out)
	fmt.Fprintln(w, "PREFIX\tKEYS\tAGE\tLAST CHANGE\tRUN")
	since := func(at time.Time) string {
		if at.IsZero() {
			return "unknown"
		}
		return duration.HumanDuration(now.Sub(at))
	}
	for _, l := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", text.Printable(l.Prefix), text.Grouped(l.Keys), since(l.Began), since(l.Seen), text.Printable(cmp.Or(o.obstacle(l), o.about(l))))
	}
	return w.Flush()
}

// chosen returns the leftovers of prefixes, and refuses those that must not be removed.
func (c *cleaner) chosen(ctx context.Context, found []ownership.Leftover, prefixes []string) (chosen []ownership.Leftover, err error) {
	for _, prefix := range prefixes {
		prefix = strings.TrimRight(prefix, "/") + "/"
		if strings.Contains(prefix, "//") || prefix == "/" {
			return nil, fmt.Errorf("wanted a PREFIX such as etcdbench/1a2b3c4d/, found %q", prefix)
		}
		i := slices.IndexFunc(found, func(l ownership.Leftover) bool { return l.Prefix == prefix })
		l := ownership.Leftover{}
		if i >= 0 {
			l = found[i]
		} else if l, err = c.leftovers.Look(ctx, prefix); err != nil {
			return nil, err
		}
		obstacle := c.owners.obstacle(l)
		if l.Keys == 0 {
			obstacle = "it has no keys"
		}
		if obstacle != "" {
			return nil, fmt.Errorf("the prefix %s cannot be removed: %s. Nothing was removed. The command without a prefix lists them", prefix, obstacle)
		}
		chosen = append(chosen, l)
	}
	return chosen, nil
}

// removeAll removes the leftovers that do not change for a while.
func (c *cleaner) removeAll(ctx context.Context, chosen []ownership.Leftover) error {
	fmt.Fprintln(c.Err, c.owners.checked)
	for _, l := range chosen {
		c.quiet = max(c.quiet, l.Quiet)
	}
	fmt.Fprintf(c.Err, "Watching for %s: a prefix that changes is in use.\n", c.quiet)
	if err := load.Pause(ctx, c.quiet); err != nil {
		return err
	}
	kept := 0
	for _, before := range chosen {
		removed, err := c.remove(ctx, before)
		if err != nil {
			return fmt.Errorf("removing %s: %w", before.Prefix, err)
		}
		if !removed {
			kept++
		}
	}
	if kept > 0 {
		return fmt.Errorf("%d of %d prefixes were not removed completely, as said above", kept, len(chosen))
	}
	return nil
}

func (c *cleaner) remove(ctx context.Context, before ownership.Leftover) (removed bool, err error) {
	now, err := c.leftovers.Look(ctx, before.Prefix)
	if err != nil {
		return false, err
	}
	if !now.IsSame(before) {
		fmt.Fprintf(c.Out, "%s: changed within %s, so a run uses it; left alone\n", before.Prefix, c.quiet)
		return false, nil
	}
	done, err := c.leftovers.Remove(ctx, before, benchmark.FirstLease(before.Owner))
	switch {
	case errors.Is(err, ownership.ErrChanged):
		fmt.Fprintf(c.Out, "%s: %v\n", before.Prefix, ownership.ErrChanged)
		return false, nil
	case err != nil && load.FailureOf(err).Reason == results.FailurePrefixNotEmpty:
		fmt.Fprintf(c.Out, "%s: %v\n", before.Prefix, err)
		return false, nil
	case err != nil:
		return false, err
	}
	what := text.Plural(done.Keys, "key")
	if done.Leases > 0 {
		what += " and " + text.Plural(done.Leases, "lease")
	}
	if done.Foreign > 0 {
		fmt.Fprintf(c.Out, "%s: removed %s. %s that the run did not write were left alone, and so was the marker\n", before.Prefix, what, text.Plural(done.Foreign, "key"))
		return false, nil
	}
	_, err = fmt.Fprintf(c.Out, "%s: removed %s\n", before.Prefix, what)
	return true, err
}
