//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Levels of the suite.
const (
	levelQuick = "quick"
	levelAll   = "all"
)

var level = flag.String("level", levelQuick, "which scenarios run: quick or all")

// suite is shared by all scenarios; TestMain creates it.
var suite *environment

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if *level != levelQuick && *level != levelAll {
		fmt.Fprintf(os.Stderr, "e2e: -level: wanted quick or all, found %q\n", *level)
		return 2
	}
	// Parallel tests mostly wait, so the number of processors should not limit them.
	if err := flag.Set("test.parallel", "32"); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 2
	}
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	suite = &environment{ctx: ctx}
	defer func() { suite.detached().tearDown() }()
	if err := suite.setUp(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: preparing the cluster:", err)
		return 1
	}
	return m.Run()
}

// scenario is one part of the suite.
type scenario struct {
	name  string
	check func(*testing.T)
	// slow scenarios run only at the level all.
	slow bool
	// node scenarios access processes of the node, which must be this machine.
	node bool
}

// TestOperator runs the scenarios in order: first the one that needs the target exclusively, last the one that removes
// the operator.
func TestOperator(t *testing.T) {
	for _, s := range []scenario{
		{name: "sample", check: checkSample},
		{name: "group", check: checkGroup},
		{name: "secrecy", check: checkSecrecy},
		{name: "restart/pod deleted", check: checkPodDeletedRestart},
		{name: "restart/process killed", check: checkProcessKilledRestart, node: true},
		{name: "restart/leader of two killed", check: checkLeaderOfTwo, slow: true, node: true},
		{name: "restart/upgraded", check: checkUpgradedRestart, slow: true},
		{name: "outage/API server", check: checkAPIServerOutage, slow: true, node: true},
		{name: "outage/kubelet", check: checkKubeletOutage, slow: true, node: true},
		{name: "suites", check: checkSuites},
		{name: "search", check: checkSearch},
		{name: "schedule", check: checkSchedule},
		{name: "endings", check: checkEndings},
		{name: "queue", check: checkQueue},
		{name: "cleanup", check: checkCleanup, node: true},
		{name: "lost node", check: checkLostNode, node: true},
		{name: "starting", check: checkStarting},
		{name: "members", check: checkMembers, node: true},
		{name: "builds", check: checkBuilds, slow: true, node: true},
		{name: "members of other stores", check: checkStoreMembers, node: true},
		{name: "kine", check: checkKine, node: true},
		{name: "sharing", check: checkSharing},
		{name: "second operator", check: checkSecondOperator},
		{name: "strict", check: checkStrict},
		{name: "prometheus", check: checkPrometheus, node: true},
		{name: "guard", check: checkGuard},
		{name: "control plane", check: checkControlPlane, slow: true},
		{name: "kubelets", check: checkKubelets, slow: true},
		{name: "faults", check: checkFaults, slow: true, node: true},
		{name: "secrecy/after the faults", check: checkSecrecy, slow: true, node: true},
		{name: "workloads", check: checkWorkloads, slow: true},
		{name: "samples", check: checkSamples, slow: true},
		{name: "losses", check: checkLosses, slow: true},
		{name: "times", check: checkTimes, slow: true, node: true},
		{name: "leaks", check: checkLeaks, slow: true, node: true},
		{name: "clocks", check: checkClocks, slow: true, node: true},
		{name: "neighbour", check: checkNeighbour, slow: true, node: true},
		{name: "helm", check: checkHelm},
	} {
		if s.slow && *level != levelAll || s.node && !suite.ownCluster {
			continue
		}
		t.Run(s.name, s.check)
	}
	if *level == levelAll && suite.ownCluster && flag.Lookup("test.run").Value.String() == "" {
		reliability.write(t)
	}
}

// checkGroup runs scenarios in parallel that hardly disturb each other: only the counted scenarios load their target,
// the others mostly wait.
func checkGroup(t *testing.T) {
	for _, s := range []scenario{
		{name: "counted", check: checkCounted},
		{name: "collection/port blocked", check: checkBlockedPort, node: true},
		{name: "admission", check: checkAdmission},
		{name: "failures", check: checkFailures},
		{name: "tls", check: checkTLS},
		{name: "auth", check: checkAuth},
	} {
		if s.node && !suite.ownCluster {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.check(t)
		})
	}
}
