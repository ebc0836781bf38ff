package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestAdmittedReadsTheFile(t *testing.T) {
	dir := t.TempDir()
	c := watchFiles(dir)
	defer c.close()
	short, cancel := context.WithTimeout(t.Context(), 3*readInterval)
	defer cancel()
	if err := c.Admitted(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v before the file exists, wanted a time-out", err)
	}
	if err := os.WriteFile(filepath.Join(dir, plan.AdmittedFile), []byte("true"), 0o600); err != nil {
		t.Fatal(err)
	}
	long, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Admitted(long); err != nil {
		t.Errorf("got %v after the file was written", err)
	}
}
