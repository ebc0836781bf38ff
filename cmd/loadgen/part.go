package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/tuning"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// failedGrace is the time for which a pod that failed before its window serves its metrics: enough for one or two
// scrapes. The termination message has the same result.
const failedGrace = 3 * time.Second

// loadPart runs this pod's part of the plan, from reading the plan to the last scrape.
func loadPart(ctx context.Context, o options, stderr io.Writer) int {
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	var session *load.Session
	// The measurement must survive a failure while keys are deleted.
	measured := func() { writeTermination(o.terminationFile, session.Snapshot(), log) }
	session, control, err := newSession(o, measured, log)
	if err != nil {
		return refuse(o, err, log)
	}
	defer control.close()
	served := serve(o.metricsAddress, session, log)
	defer served.close()

	err = session.Run(ctx)
	final := session.Snapshot()
	writeTermination(o.terminationFile, final, log)
	if err != nil {
		log.Error("the pod could not complete its part", "error", err)
		linger(ctx, control, graceOf(final, o.collectGrace))
		return exitFailed
	}
	log.Info("done", "cleaning", string(final.Cleaning), "stopped", final.Stopped)
	linger(ctx, control, o.collectGrace)
	return exitDone
}

// graceOf is the time for which a failed pod serves its metrics. If it failed after its window began, they have more
// detail than the termination message.
func graceOf(final *results.Snapshot, collectGrace time.Duration) time.Duration {
	if final.Window.Start.IsZero() {
		return failedGrace
	}
	return collectGrace
}

func newSession(o options, measured func(), log *slog.Logger) (*load.Session, *fileControl, error) {
	p, err := o.readPlan()
	if err != nil {
		return nil, nil, load.Errorf(results.FailureInvalidPlan, "%w", err)
	}
	tuning.Process(p.Load)
	control := watchFiles(o.controlDir)
	session, err := load.NewSession(load.Config{
		Plan: p, Index: o.index, Driver: datastore.New(p, o.index), Control: control, Measured: measured, Log: log,
	})
	if err != nil {
		control.close()
		return nil, nil, err
	}
	log.Info("loadgen", "version", version, "run", p.Name, "uid", p.RunUID, "index", o.index, "pods", p.Pods())
	return session, control, nil
}

// refuse ends a pod that has no valid plan.
func refuse(o options, err error, log *slog.Logger) int {
	log.Error("the plan cannot be run", "error", err)
	writeTermination(o.terminationFile, &results.Snapshot{
		RunUID: o.runUID(), Index: o.index, Stage: results.StageDone, Cleaning: results.CleaningNothingWritten, Failure: load.FailureOf(err),
	}, log)
	return exitFailed
}

// linger serves the final metrics until the operator has collected them, at most for a time, or until the pod is
// terminated.
func linger(ctx context.Context, control *fileControl, atMost time.Duration) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-control.collected:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// writeTermination writes the termination message. It truncates the file and writes in place, because the kubelet has
// mounted the file.
func writeTermination(path string, final *results.Snapshot, log *slog.Logger) {
	if err := os.WriteFile(path, wire.TerminationMessage(final), 0o644); err != nil {
		log.Error("the termination message could not be written; the metrics have the result", "error", err)
	}
}

// clean deletes the keys that a run has left, if the run's marker is there.
func clean(ctx context.Context, o options, stderr io.Writer) int {
	err := cleanPrefix(ctx, o)
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(stderr, "loadgen clean:", err)
	// The operator shows the message. If the file cannot be written, the log has it.
	_ = os.WriteFile(o.terminationFile, []byte(err.Error()), 0o644)
	if load.StillWrites(err) {
		return plan.ExitStillWrites
	}
	return exitFailed
}

func cleanPrefix(ctx context.Context, o options) (err error) {
	p, err := o.readPlan()
	if err != nil {
		return err
	}
	driver := datastore.New(p, 0)
	if err = load.Clean(ctx, p, driver, o.podTimeout); load.StillWrites(err) {
		// Without Close, the lock of a ZooKeeper lasts until the session expires.
		return err
	}
	return errors.Join(err, driver.Close())
}
