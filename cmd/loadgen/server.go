package main

import (
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// server serves metrics and readiness. The zero value serves nothing.
type server struct{ http *http.Server }

// serve starts serving a session's numbers. It is not fatal if the address cannot be used: the termination message has
// the result.
func serve(address string, session *load.Session, log *slog.Logger) server {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Error("metrics are not served; the termination message will have the result", "error", err)
		return server{}
	}
	log.Info("serving metrics", "address", listener.Addr().String())
	s := server{&http.Server{Handler: handler(session), ReadHeaderTimeout: 5 * time.Second}}
	go func() {
		if err := s.http.Serve(listener); err != http.ErrServerClosed {
			log.Error("metrics are no longer served", "error", err)
		}
	}()
	return s
}

func handler(session *load.Session) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(plan.MetricsPath, promhttp.HandlerFor(wire.Gatherer(session.Snapshot), promhttp.HandlerOpts{}))
	mux.Handle(plan.CoursePath, courseHandler(session))
	mux.HandleFunc(plan.ReadyPath, func(w http.ResponseWriter, _ *http.Request) {
		if !session.Ready() {
			http.Error(w, "not ready: "+string(session.Stage()), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
	return mux
}

// courseHandler serves the course once the pod has measured.
func courseHandler(session *load.Session) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := session.Snapshot()
		if !s.HasMeasured() {
			http.Error(w, "not measured yet: "+string(s.Stage), http.StatusNotFound)
			return
		}
		data, err := wire.MarshalCourse(s)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// The reader may have gone.
		_, _ = w.Write(data)
	})
}

func (s server) close() {
	if s.http != nil {
		// The process exits next, so a scrape in progress is lost.
		_ = s.http.Close()
	}
}
