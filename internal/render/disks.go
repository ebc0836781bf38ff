package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxDiskRows bounds the table of disks on a terminal.
const maxDiskRows = 10

// disks prints what each client pod has measured, the slowest first. It says which of the two times the objectives are about.
func (t *table) disks(most int) {
	pods := slices.DeleteFunc(slices.Clone(t.b.Status.Pods), func(p v1alpha1.PodStatus) bool { return p.Disk == nil })
	if len(pods) == 0 {
		return
	}
	slices.SortStableFunc(pods, slowerFlushes)
	g := grid{left: 4}
	g.add("POD", "NODE", "DEVICE", "FILE SYSTEM", "FLUSH P50", "P99", "MAX")
	for _, p := range pods[:min(len(pods), most)] {
		d := p.Disk
		g.add(strconv.Itoa(int(p.Index)), p.Node, d.Device, d.FileSystem, flush(d, d.FlushP50Microseconds), flush(d, d.FlushP99Microseconds), flush(d, d.FlushMaxMicroseconds))
	}
	t.section(g)
	if more := len(pods) - most; more > 0 {
		t.sentence("", fmt.Sprintf("%s not shown, whose flushes are faster.", text.Plural(more, "pod")))
	}
	if options := optionsOf(pods); options != "" {
		t.sentence("", "Mount options: "+options+".")
	}
	t.sentence("", "Flush is the fdatasync alone, which etcd's limits are about. Append is the whole request, from when it was due.")
}

// optionsOf are the mount options that all pods share; empty if they differ.
func optionsOf(pods []v1alpha1.PodStatus) string {
	first := pods[0].Disk.Options
	if slices.ContainsFunc(pods, func(p v1alpha1.PodStatus) bool { return p.Disk.Options != first }) {
		return ""
	}
	return first
}

// slowerFlushes compares the 99th percentiles, or else the maxima. A pod without one, which may be the slowest, is first.
func slowerFlushes(a, b v1alpha1.PodStatus) int {
	first := func(d *v1alpha1.DiskStatus) []int64 {
		worst := func(micros int64) int64 {
			if micros == 0 {
				return math.MaxInt64
			}
			return micros
		}
		return []int64{worst(d.FlushP99Microseconds), worst(d.FlushMaxMicroseconds)}
	}
	return slices.Compare(first(b.Disk), first(a.Disk))
}

// flush is a time of a disk. A pod whose flushes ended has no percentile of too few.
func flush(d *v1alpha1.DiskStatus, micros int64) string {
	switch {
	case micros > 0:
		return text.Micros(micros)
	case d.FlushMaxMicroseconds > 0:
		return thin
	}
	return unknown
}
