package process

import "golang.org/x/sys/unix"

// systemProcessor returns the model of the processors, for example "Apple M2"; empty if it is not known.
func systemProcessor() string {
	model, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return model
}
