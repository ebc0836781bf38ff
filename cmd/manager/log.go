package main

import (
	"errors"
	"flag"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// logOptions are the flags of the log.
type logOptions struct {
	level  slog.Level
	isText bool
}

func (o *logOptions) register(flags *flag.FlagSet) {
	flags.Func("log-level", "lowest `LEVEL` of the log: debug, info or error; by default info", o.setLevel)
	flags.Func("log-format", "`FORMAT` of the log: json or text; by default json", o.setFormat)
}

func (o *logOptions) setLevel(value string) error {
	// debug also shows lines of the verbosities 1 to 4.
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "error": slog.LevelError}
	level, ok := levels[value]
	if !ok {
		return errors.New("wanted debug, info or error")
	}
	o.level = level
	return nil
}

func (o *logOptions) setFormat(value string) error {
	if value != "json" && value != "text" {
		return errors.New("wanted json or text")
	}
	o.isText = value == "text"
	return nil
}

// set makes all packages of this process write to one log.
func (o logOptions) set(out io.Writer) {
	logger := logr.FromSlogHandler(o.handler(out))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
}

func (o logOptions) handler(out io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: o.level}
	if o.isText {
		return slog.NewTextHandler(out, options)
	}
	return slog.NewJSONHandler(out, options)
}
