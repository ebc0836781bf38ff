package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	tools, manager, out, root string
	scenes                    []string
	size                      string
	sizes
}

// sizes are how many objects each scene has.
type sizes struct {
	// Waiting and Finished are the runs beside which all scenes play.
	Waiting, Finished int
	// Loading runs of LoadingPods pods each load for LoadingSeconds.
	Loading, LoadingPods, LoadingSeconds int
	// Queue runs follow each other on one target.
	Queue int
	// Unschedulable runs have a pod that no node takes.
	Unschedulable int
	// Delete finished runs are deleted at once.
	Delete int
	// Wide is the number of pods of one run.
	Wide int
	// IdleSeconds is how long a scene in which nothing happens is measured.
	IdleSeconds int
}

// idleFor is how long a scene in which nothing happens is measured.
func (s sizes) idleFor() time.Duration { return time.Duration(s.IdleSeconds) * time.Second }

// presets are the values of -size.
var presets = map[string]sizes{
	"small": {Waiting: 20, Finished: 50, Loading: 10, LoadingPods: 3, LoadingSeconds: 10, Queue: 4, Unschedulable: 10, Delete: 20, Wide: 10, IdleSeconds: 10},
	"full":  {Waiting: 1000, Finished: 5000, Loading: 100, LoadingPods: 10, LoadingSeconds: 120, Queue: 200, Unschedulable: 100, Delete: 500, Wide: 1000, IdleSeconds: 60},
}

// numbers are the flags that change one size of the preset.
func (s *sizes) numbers() map[string]*int {
	return map[string]*int{
		"waiting": &s.Waiting, "finished": &s.Finished, "loading": &s.Loading, "loading-pods": &s.LoadingPods,
		"loading-seconds": &s.LoadingSeconds, "queue": &s.Queue, "unschedulable": &s.Unschedulable, "delete": &s.Delete,
		"wide": &s.Wide, "idle-seconds": &s.IdleSeconds,
	}
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var wanted sizes
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.root, "root", ".", "`FOLDER` of the project")
	flags.StringVar(&o.tools, "tools", "bin/tools", "`FOLDER` of kube-apiserver, etcd and kube-controller-manager")
	flags.StringVar(&o.manager, "manager", "bin/manager", "`FILE` of the manager")
	flags.StringVar(&o.out, "out", "out/scale.json", "`FILE` for the figures")
	flags.StringVar(&o.size, "size", "full", "small or full")
	scenes := flags.String("scenes", strings.Join(sceneNames(), ","), "`NAMES` of the scenes, separated by commas")
	for name, value := range wanted.numbers() {
		flags.IntVar(value, name, 0, "replaces this number of the preset")
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	preset, ok := presets[o.size]
	if !ok {
		return o, fmt.Errorf("wanted -size small or full, found %q", o.size)
	}
	o.sizes = preset
	numbers := o.sizes.numbers()
	for name, value := range wanted.numbers() {
		if *value > 0 {
			*numbers[name] = *value
		}
	}
	o.scenes = strings.Split(*scenes, ",")
	for _, name := range o.scenes {
		if !slices.Contains(sceneNames(), name) {
			return o, fmt.Errorf("wanted scenes of %s, found %q", strings.Join(sceneNames(), ", "), name)
		}
	}
	return o, nil
}
