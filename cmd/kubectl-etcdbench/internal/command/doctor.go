package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const doctorExample = `  # Why is this etcd slow?
  kubectl etcdbench doctor --endpoints 10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379

  # The pods of a Service, over the API server
  kubectl etcdbench doctor -n etcd service/etcd

  # The etcd of a kubeadm control plane, in the folder /etc/kubernetes/pki/etcd of its node
  kubectl etcdbench doctor --endpoints https://127.0.0.1:2379 --cacert ca.crt \
    --cert server.crt --key server.key`

const doctorHelp = `Looks at an etcd twice, and says what is wrong: the most important first, each with its number,
the limit, where the limit is written, and what to do. It sends no load, writes no key and takes
no lock, so it is safe on an etcd in trouble. It reads each member's status, alarms and metrics,
and sends a ping. With --user it logs in first, as each client does.

Name all members: it looks only at these. A Service or pods are reached as by kubectl port-forward,
which needs the same right. CPU throttling shows only for members of this machine, at 127.0.0.1,
and for pods with the right to get nodes/proxy. The flags --endpoints, ` + accessHelp + `

Exit status, the first that applies: 2 it could not look, 1 something was found, 3 a check could
not be decided, 0 nothing was found.`

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	target cleanFlags
	port   uint16
	length time.Duration
	// outputs are those of --output.
	outputs []string
}

// diagnosisForms are the forms of a diagnosis.
var diagnosisForms = []form{{name: outputTable}, {name: outputJSON}}

func (t *tool) doctorCommand() *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use:     "doctor [--endpoints HOST:PORT,... | service/NAME | pod/NAME...]",
		Short:   "Say what is wrong with an etcd, without any load",
		Long:    doctorHelp,
		Example: doctorExample,
		RunE: func(_ *cobra.Command, args []string) error {
			err := t.doctor(f, args)
			return f.target.adviceOf().Error(err)
		},
	}
	flags := cmd.Flags()
	target := &f.target.target
	target.given, target.local = flags.Changed, true
	flags.StringSliceVar(&target.access.Endpoints, "endpoints", nil, "addresses of the members, as `HOST:PORT,...`")
	target.access.Define(flags, "")
	flags.Uint16Var(&f.port, "port", 2379, "the port of the pods behind service/NAME or pod/NAME")
	t.kube.addTo(flags)
	flags.DurationVar(&f.length, "window", 30*time.Second, "time between the two looks, 1s to 10m")
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write the result as `FORM[=FILE]`, repeatable; FORM is "+namesText(diagnosisForms)+" (default table)")
	return cmd
}

func (t *tool) doctor(f *doctorFlags, objects []string) error {
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	endpoints := &f.target.target.access.Endpoints
	switch {
	case len(objects) > 0 && len(*endpoints) > 0:
		return fmt.Errorf("wanted --endpoints or %s, found both", objects[0])
	case f.length < time.Second || f.length > 10*time.Minute:
		return fmt.Errorf("--window: wanted 1s to 10m, found %s", f.length)
	}
	outputs, err := parseDestinations(f.outputs, diagnosisForms)
	if err == nil {
		err = t.completeAccess(&f.target.target)
	}
	throttling := etcd.OwnThrottling
	if err == nil {
		err = t.locate(&f.target.target, len(objects) == 0)
	}
	if err == nil && len(objects) > 0 {
		*endpoints, throttling, err = t.forward(ctx, objects, f.port)
	}
	if err != nil {
		return err
	}
	if len(*endpoints) == 0 {
		return errors.New("wanted the members to look at, found none: add --endpoints host:port,… or service/NAME")
	}
	target, err := f.target.planTarget()
	if err != nil {
		return err
	}
	if err := outputs.open(t.Out, following{}); err != nil {
		return err
	}
	fmt.Fprintf(t.Err, "Looking at %s for %s.\n", text.Plural(len(target.Endpoints), "member"), text.Duration(f.length))
	cluster, err := etcd.Checkup(ctx, target, f.length, throttling)
	if ctx.Err() != nil || err != nil {
		outputs.discard()
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitUnknown, errors.New("interrupted: nothing was found yet")}
	case err != nil:
		return err
	}
	for i := range cluster.Members {
		cluster.Members[i].Problem = f.target.adviceOf().Text(cluster.Members[i].Problem)
	}
	diagnosis := doctor.Diagnose(cluster)
	err = outputs.write(t.Out, func(f form, out io.Writer) error {
		if f.name == outputJSON {
			return writeDiagnosis(out, cluster, diagnosis)
		}
		_, err := fmt.Fprint(out, render.Diagnosis(cluster, diagnosis))
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return statusOfDiagnosis(cluster, diagnosis)
}

// statusOfDiagnosis is the exit status. The result has the reason.
func statusOfDiagnosis(c doctor.Cluster, d doctor.Diagnosis) error {
	isAway := func(m doctor.Member) bool { return m.Problem != "" }
	switch {
	case !slices.ContainsFunc(c.Members, func(m doctor.Member) bool { return !isAway(m) }):
		return &exitError{exitFailed, errors.New("nothing could be looked at: no address answered")}
	case len(d.Findings) > 0:
		return &exitError{status: exitMissed}
	case len(d.Undecided) > 0:
		return &exitError{status: exitUnknown}
	}
	return nil
}

// rpc is an RPC in the recent window. Durations are known only with --metrics=extensive of etcd.
type rpc struct {
	Name              string  `json:"name"`
	ReceivedPerSecond float64 `json:"receivedPerSecond"`
	SentPerSecond     float64 `json:"sentPerSecond"`
	MeanSeconds       float64 `json:"meanSeconds,omitempty"`
	P99AboveSeconds   float64 `json:"p99AboveSeconds,omitempty"`
	P99AtMostSeconds  float64 `json:"p99AtMostSeconds,omitempty"`
}

func rpcsOf(m doctor.Member) (all []rpc) {
	length, known := m.Recent.Value(results.FigureSampledSeconds)
	if !known || length == 0 {
		return nil
	}
	for _, method := range m.Methods {
		h := method.Handling
		all = append(all, rpc{method.Name, method.Received / length, method.Sent / length, h.Mean.Seconds(), h.P99Above.Seconds(), h.P99AtMost.Seconds()})
	}
	return all
}

// diagnosisVersion is the version of the JSON.
const diagnosisVersion = 1

func writeDiagnosis(out io.Writer, c doctor.Cluster, d doctor.Diagnosis) error {
	type member struct {
		Name          string                   `json:"name"`
		Endpoint      string                   `json:"endpoint"`
		Problem       string                   `json:"problem,omitempty"`
		Unread        string                   `json:"unread,omitempty"`
		Version       string                   `json:"version,omitempty"`
		IsLeader      bool                     `json:"isLeader"`
		UptimeSeconds float64                  `json:"uptimeSeconds,omitempty"`
		PingSeconds   float64                  `json:"pingSeconds,omitempty"`
		Gauges        map[doctor.Gauge]float64 `json:"gauges,omitempty"`
		// Recent and SinceStart have the names of the figures of a run.
		Recent     map[results.Figure]float64 `json:"recent,omitempty"`
		SinceStart map[results.Figure]float64 `json:"sinceStart,omitempty"`
		// RPCs are those of the recent window. The sizes are means over all of them.
		RPCs              []rpc           `json:"rpcs,omitempty"`
		MeanReceivedBytes float64         `json:"meanReceivedBytes,omitempty"`
		MeanSentBytes     float64         `json:"meanSentBytes,omitempty"`
		Throttling        *doctor.Periods `json:"throttling,omitempty"`
	}
	document := struct {
		Version       int      `json:"version"`
		WindowSeconds float64  `json:"windowSeconds"`
		Members       []member `json:"members"`
		doctor.Diagnosis
	}{Version: diagnosisVersion, WindowSeconds: c.Length.Seconds(), Diagnosis: d}
	figures := func(w *results.MemberWindow) map[results.Figure]float64 {
		if w == nil {
			return nil
		}
		return w.Figures
	}
	for _, m := range c.Members {
		received, sent := m.MeanBytes()
		document.Members = append(document.Members, member{m.Name, m.Endpoint, m.Problem, m.Unread, m.Version, m.IsLeader,
			m.Uptime.Seconds(), m.Ping.Seconds(), m.Gauges, figures(m.Recent), figures(m.Started), rpcsOf(m), received, sent, m.Throttling})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}
