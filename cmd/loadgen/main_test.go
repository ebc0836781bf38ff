package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestCommandLine(t *testing.T) {
	tests := map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"help":            {[]string{"--help"}, exitDone, "", "loadgen clean"},
		"help of clean":   {[]string{"clean", "-h"}, exitDone, "", "plan-dir"},
		"version":         {[]string{"--version"}, exitDone, "loadgen " + version, ""},
		"help of sample":  {[]string{"sample", "-h"}, exitDone, "", strconv.Itoa(plan.SamplerPort)},
		"a taken address": {[]string{"sample", "--metrics-address", "256.0.0.1:1"}, exitFailed, "", "256.0.0.1"},
		"unknown store":   {[]string{"sample", "--datastore", "Kine"}, exitUsage, "", "Kine"},
		"unknown flag":    {[]string{"--fast"}, exitUsage, "", "--help"},
		"unknown command": {[]string{"tidy"}, exitUsage, "", "tidy"},
		"no index":        {nil, exitUsage, "", plan.IndexEnv},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(plan.IndexEnv, "")
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), tc.args, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, wanted %d", code, tc.code)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("wrote %q and %q, wanted %q and %q", stdout.String(), stderr.String(), tc.stdout, tc.stderr)
			}
		})
	}
}
