package kubelet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// The series of a kubelet that are read.
const (
	cpuSeconds    = "container_cpu_usage_seconds_total"
	rss           = "container_memory_rss"
	workingSet    = "container_memory_working_set_bytes"
	bytesReceived = "container_network_receive_bytes_total"
	bytesSent     = "container_network_transmit_bytes_total"
	bytesRead     = "container_fs_reads_bytes_total"
	bytesWritten  = "container_fs_writes_bytes_total"
)

var wanted = map[string]bool{cpuSeconds: true, rss: true, workingSet: true, bytesReceived: true, bytesSent: true, bytesRead: true, bytesWritten: true}

const (
	// mostPage bounds the answer of a kubelet: 250 pods have some megabytes. mostLine bounds a line of it.
	mostPage = 64 << 20
	mostLine = 64 << 10
)

var errNoTime = errors.New("the kubelet's samples have no timestamps")

// name identifies a pod.
type name struct{ namespace, pod string }

// series is one line of a page.
type series struct {
	family string
	// id is the control group, container is empty for that of the pod, and part is the interface or the device.
	id, container, part string
}

// point is the value of a series when the kubelet sampled it.
type point struct {
	value float64
	at    time.Time
}

// page is what a kubelet says of one pod.
type page map[series]point

// parse reads the pages of these pods from Prometheus's text format.
func parse(body io.Reader, pods map[name]bool) (map[name]page, error) {
	var kept bytes.Buffer
	lines := bufio.NewScanner(io.LimitReader(body, mostPage))
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		line := lines.Bytes()
		if end := bytes.IndexByte(line, '{'); end > 0 && wanted[string(line[:end])] && mentions(line, pods) {
			kept.Write(line)
			kept.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&kept)
	if err != nil {
		return nil, err
	}
	out := map[name]page{}
	for family, f := range families {
		for _, m := range f.GetMetric() {
			of, key := keyOf(family, m)
			if !pods[of] {
				continue
			}
			if m.TimestampMs == nil {
				return nil, fmt.Errorf("%s: %w", family, errNoTime)
			}
			if out[of] == nil {
				out[of] = page{}
			}
			out[of][key] = point{m.GetUntyped().GetValue(), time.UnixMilli(m.GetTimestampMs())}
		}
	}
	return out, nil
}

// mentions reports whether a line may be about one of these pods.
func mentions(line []byte, pods map[name]bool) bool {
	for of := range pods {
		if bytes.Contains(line, []byte(`pod="`+of.pod+`"`)) {
			return true
		}
	}
	return false
}

func keyOf(family string, m *dto.Metric) (of name, key series) {
	key.family = family
	isNamed := false
	for _, l := range m.GetLabel() {
		switch v := strings.Clone(l.GetValue()); l.GetName() {
		case "namespace":
			of.namespace = v
		case "pod":
			of.pod = v
		case "id":
			key.id = v
		case "container":
			key.container = v
		case "name":
			isNamed = v != ""
		case "interface", "device":
			key.part = v
		}
	}
	if key.container == "" && isNamed {
		// containerd gives it no name.
		key.container = sandbox
	}
	return of, key
}
