package render

import (
	"fmt"
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
	slices.SortStableFunc(pods, func(a, b v1alpha1.PodStatus) int {
		return int(b.Disk.FlushP99Microseconds - a.Disk.FlushP99Microseconds)
	})
	g := grid{left: 4}
	g.add("POD", "NODE", "DEVICE", "FILE SYSTEM", "FLUSH P50", "P99", "MAX")
	for _, p := range pods[:min(len(pods), most)] {
		d := p.Disk
		g.add(strconv.Itoa(int(p.Index)), p.Node, d.Device, d.FileSystem, micros(d.FlushP50Microseconds), micros(d.FlushP99Microseconds), micros(d.FlushMaxMicroseconds))
	}
	t.section(g)
	if more := len(pods) - most; more > 0 {
		t.sentence("", fmt.Sprintf("%s not shown, whose 99th percentiles are lower.", text.Plural(more, "pod")))
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

func micros(n int64) string {
	if n == 0 {
		return unknown
	}
	return text.Micros(n)
}
