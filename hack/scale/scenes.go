package main

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// scene is one situation that is measured.
type scene struct {
	name string
	play func(*stage, context.Context, *outcome) error
}

// scenes are all scenes in the order in which they play.
func scenes() []scene {
	return []scene{
		{"idle", (*stage).playIdle},
		{"restart", (*stage).playRestart},
		{"delete", (*stage).playDelete},
		{"unschedulable", (*stage).playUnschedulable},
		{"wide", (*stage).playWide},
		{"queue", (*stage).playQueue},
		{"loading", (*stage).playLoading},
	}
}

func sceneNames() (names []string) {
	for _, s := range scenes() {
		names = append(names, s.name)
	}
	return names
}

// playIdle measures while nothing happens.
func (s *stage) playIdle(ctx context.Context, o *outcome) error {
	if err := s.measured(o, func() error { return pass(ctx, s.idleFor()) }); err != nil {
		return err
	}
	o.atMost("% of a core", o.ManagerCPUPercent, 2)
	o.exactly("lists", float64(o.Lists), 0)
	o.atMost("writes per second", float64(o.Writes)/o.Seconds, 1)
	return nil
}

// playRestart measures the time until the manager handles a run that was created while it was away, and until it has
// handled all others.
func (s *stage) playRestart(ctx context.Context, o *outcome) error {
	if err := s.makeNamespace(ctx, "restart"); err != nil {
		return err
	}
	s.manager.end()
	s.kubelet.loadFor("restart", time.Second)
	if err := s.plane.api.Create(ctx, newRun("restart", "new", address(4, 0), 1, time.Second)); err != nil {
		return err
	}
	if err := s.startManager(); err != nil {
		return err
	}
	err := s.measured(o, func() error {
		start := time.Now()
		err := s.await(ctx, "the new run handled", startLimit, func() bool {
			return s.diary.count("restart", func(r sighting) bool { return r.run.Status.StartTime != nil }) == 1
		})
		o.figure("readySeconds", time.Since(start).Seconds())
		if err != nil {
			return err
		}
		err = s.awaitQuiet(ctx)
		o.figure("quietSeconds", time.Since(start).Seconds())
		return err
	})
	o.atMost("seconds to be ready", o.Figures["readySeconds"], 20)
	o.atMost("peak MB", o.ManagerPeakMB, 300)
	return err
}

// playDelete deletes finished runs, all at once.
func (s *stage) playDelete(ctx context.Context, o *outcome) error {
	err := s.measured(o, func() error {
		start := time.Now()
		if err := s.plane.api.DeleteAllOf(ctx, &v1alpha1.EtcdBenchmark{}, client.InNamespace("delete")); err != nil {
			return err
		}
		err := s.await(ctx, "deleted runs", startLimit, func() bool { return len(s.diary.of("delete")) == 0 })
		o.figure("deleteSeconds", time.Since(start).Seconds())
		return err
	})
	o.atMost("seconds", o.Figures["deleteSeconds"], 15)
	return err
}

// playUnschedulable measures runs whose pods no node takes.
func (s *stage) playUnschedulable(ctx context.Context, o *outcome) error {
	if err := s.makeNamespace(ctx, "unschedulable"); err != nil {
		return err
	}
	err := inParallel(s.Unschedulable, func(i int) error {
		return s.plane.api.Create(ctx, never(newRun("unschedulable", fmt.Sprintf("run-%03d", i), address(5, i), 1, time.Second)))
	})
	if err != nil {
		return err
	}
	err = s.await(ctx, "all runs with pods", startLimit, func() bool {
		return s.diary.count("unschedulable", func(r sighting) bool { return stageOf(r.run) == v1alpha1.StagePreparing }) == s.Unschedulable
	})
	if err == nil {
		err = s.awaitQuiet(ctx)
	}
	if err == nil {
		err = s.measured(o, func() error { return pass(ctx, s.idleFor()) })
	}
	if err != nil {
		return err
	}
	o.atMost("% of a core", o.ManagerCPUPercent, 3)
	o.exactly("full lists", float64(o.FullLists), 0)
	return s.clear(ctx, "unschedulable")
}

// clear deletes the runs of a scene that would not end.
func (s *stage) clear(ctx context.Context, namespace string) error {
	if err := s.plane.api.DeleteAllOf(ctx, &v1alpha1.EtcdBenchmark{}, client.InNamespace(namespace)); err != nil {
		return err
	}
	return s.await(ctx, "no run in namespace "+namespace, startLimit, func() bool { return len(s.diary.of(namespace)) == 0 })
}
