package process

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// readMachine describes the machine. What cannot be read is left out.
func readMachine(root string) results.Machine {
	return results.Machine{Processor: readProcessor(root), Kernel: readKernel(root), MemoryBytes: readMemory(root)}
}

// readProcessor returns the model of the first processor in /proc/cpuinfo, or as another system names it. Arm processors have no model name there, but
// two numbers that identify it.
func readProcessor(root string) string {
	data, err := os.ReadFile(filepath.Join(root, "proc", "cpuinfo"))
	if err != nil {
		return systemProcessor()
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); name != "" && fields[name] == "" {
			fields[name] = strings.Join(strings.Fields(value), " ")
		}
	}
	if model := fields["model name"]; model != "" {
		return model
	}
	if fields["CPU part"] == "" {
		return ""
	}
	return runtime.GOARCH + " implementer " + fields["CPU implementer"] + " part " + fields["CPU part"]
}

func readKernel(root string) string {
	data, err := os.ReadFile(filepath.Join(root, "proc", "sys", "kernel", "osrelease"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// readMemory returns the memory of the machine in bytes (proc_meminfo(5)), 0 if it is not known.
func readMemory(root string) int64 {
	const unit = 1 << 10
	data, err := os.ReadFile(filepath.Join(root, "proc", "meminfo"))
	if err != nil {
		return 0
	}
	n, known := numberAfter(string(data), "MemTotal:")
	if !known {
		return 0
	}
	return n * unit
}

// numberAfter returns the number after a key at the start of a line.
func numberAfter(text, key string) (int64, bool) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == key {
			n, err := strconv.ParseInt(fields[1], 10, 53)
			return n, err == nil
		}
	}
	return 0, false
}
