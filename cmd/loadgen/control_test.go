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

func TestTheTurnComesAsAFile(t *testing.T) {
	dir := t.TempDir()
	c := watchFiles(dir)
	defer c.close()
	impatient, cancel := context.WithTimeout(t.Context(), 3*readEvery)
	defer cancel()
	if err := c.Turn(impatient); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the turn came (%v) before the file", err)
	}
	if err := os.WriteFile(filepath.Join(dir, plan.TurnFile), []byte("true"), 0o600); err != nil {
		t.Fatal(err)
	}
	patient, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Turn(patient); err != nil {
		t.Errorf("the turn did not come: %v", err)
	}
}
