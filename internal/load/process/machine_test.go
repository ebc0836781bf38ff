package process

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestMachine(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  results.Machine
	}{
		"x86": {
			map[string]string{
				"cpuinfo":              "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 106\nmodel name\t: Intel(R) Xeon(R)  CPU @ 2.60GHz\n\nprocessor\t: 1\nmodel name\t: another\n",
				"sys/kernel/osrelease": "6.1.0-18-amd64\n",
				"meminfo":              "MemTotal:       24689764 kB\nMemFree:         1000 kB\n",
			},
			results.Machine{Processor: "Intel(R) Xeon(R) CPU @ 2.60GHz", Kernel: "6.1.0-18-amd64", MemoryBytes: 24689764 << 10},
		},
		"unreadable": {map[string]string{"meminfo": "MemTotal: many kB\n", "cpuinfo": "processor\t: 0\n"}, results.Machine{}},
		"nothing":    {nil, results.Machine{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := readMachine(nodeFiles(t, tc.files)); got != tc.want {
				t.Errorf("got %+v, wanted %+v", got, tc.want)
			}
		})
	}
	arm := readProcessor(nodeFiles(t, map[string]string{"cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"}))
	if other := readProcessor(nodeFiles(t, map[string]string{"cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"})); arm == "" || arm == other {
		t.Errorf("got %q and %q, wanted two names for two processors", arm, other)
	}
}
