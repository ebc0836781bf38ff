//go:build prometheus

package dashboards

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// lookEvery is how often the node looks for changes, and probes its pods.
const lookEvery = 100 * time.Millisecond

// node makes pods of load Jobs, as the Job controller does, and a loadgen process of each pod, as a kubelet does.
type node struct {
	t       *testing.T
	loadgen string
	made    map[string]bool
	pods    map[client.ObjectKey]*process
}

// process is the container of one pod.
type process struct {
	command *exec.Cmd
	dir, ip string
	exited  chan struct{}
	started metav1.Time
	log     bytes.Buffer
}

// startNode runs a node until the end of the test.
func startNode(t *testing.T) {
	t.Helper()
	n := &node{t: t, loadgen: program(t, "loadgen"), made: map[string]bool{}, pods: map[client.ObjectKey]*process{}}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := n.look(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("node: %v", err)
			}
			<-tick.C
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		for _, p := range n.pods {
			_ = p.command.Process.Kill()
			<-p.exited
			if t.Failed() {
				t.Logf("log of the pod %s:\n%s", p.ip, p.log.String())
			}
		}
	})
}

// look takes all pods one step further.
func (n *node) look(ctx context.Context) error {
	jobs, pods := &batchv1.JobList{}, &corev1.PodList{}
	if err := cluster.api.List(ctx, jobs, client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentLoad}); err != nil {
		return err
	}
	for i := range jobs.Items {
		if err := n.makePods(ctx, &jobs.Items[i]); err != nil {
			return err
		}
	}
	if err := cluster.api.List(ctx, pods); err != nil {
		return err
	}
	for i := range pods.Items {
		if err := n.follow(ctx, &pods.Items[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("pod %s: %w", pods.Items[i].Name, err)
		}
	}
	return nil
}

func (n *node) makePods(ctx context.Context, job *batchv1.Job) error {
	if n.made[string(job.UID)] {
		return nil
	}
	n.made[string(job.UID)] = true
	for i := range int(*job.Spec.Completions) {
		pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
		pod.Namespace, pod.Name, pod.Spec.NodeName = job.Namespace, fmt.Sprintf("%s-%d", job.Name, i), "node"
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(i)
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		if err := cluster.api.Create(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// follow starts the process of a pod, gives it its annotations, and reports its state.
func (n *node) follow(ctx context.Context, pod *corev1.Pod) error {
	key := client.ObjectKeyFromObject(pod)
	p := n.pods[key]
	if p == nil {
		var err error
		if p, err = n.start(ctx, pod); err != nil {
			return err
		}
		n.pods[key] = p
	}
	if pod.DeletionTimestamp != nil {
		return n.end(ctx, pod, p)
	}
	for file, annotation := range map[string]string{plan.StartAtFile: plan.AnnotationStartAt, plan.AdmittedFile: plan.AnnotationAdmitted, plan.StopFile: plan.AnnotationStop, plan.CollectedFile: plan.AnnotationCollected} {
		if err := write(filepath.Join(p.dir, "control", file), pod.Annotations[annotation]); err != nil {
			return err
		}
	}
	before := pod.DeepCopy()
	p.report(ctx, &pod.Status)
	return cluster.api.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// end ends a deleted pod, with its grace period.
func (n *node) end(ctx context.Context, pod *corev1.Pod, p *process) error {
	select {
	case <-p.exited:
		return cluster.api.Delete(ctx, pod, client.GracePeriodSeconds(0))
	default:
		return p.command.Process.Signal(syscall.SIGTERM)
	}
}

func (n *node) start(ctx context.Context, pod *corev1.Pod) (*process, error) {
	p := &process{dir: n.t.TempDir(), ip: fmt.Sprintf("127.100.0.%d", len(n.pods)+1), exited: make(chan struct{}), started: metav1.Now()}
	plans := &corev1.ConfigMap{}
	for _, v := range pod.Spec.Volumes {
		if v.ConfigMap == nil {
			continue
		}
		if err := cluster.api.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: v.ConfigMap.Name}, plans); err != nil {
			return nil, err
		}
	}
	if err := write(filepath.Join(p.dir, "plan", plan.File), plans.Data[plan.File]); err != nil {
		return nil, err
	}
	arguments := append(pod.Spec.Containers[0].Args, "--plan-dir", filepath.Join(p.dir, "plan"), "--control-dir", filepath.Join(p.dir, "control"),
		"--termination-file", filepath.Join(p.dir, "message"), "--metrics-address", fmt.Sprintf("%s:%d", p.ip, plan.MetricsPort))
	p.command = exec.Command(n.loadgen, arguments...)
	p.command.Env = append(os.Environ(), plan.IndexEnv+"="+pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	p.command.Stderr = &p.log
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() { _ = p.command.Wait(); close(p.exited) }()
	return p, nil
}

// report writes the state of the process into the status of its pod.
func (p *process) report(ctx context.Context, s *corev1.PodStatus) {
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: p.started}}
	s.Phase, s.PodIP, s.PodIPs, s.Conditions = corev1.PodRunning, p.ip, []corev1.PodIP{{IP: p.ip}}, nil
	select {
	case <-p.exited:
		code := int32(p.command.ProcessState.ExitCode())
		message, _ := os.ReadFile(filepath.Join(p.dir, "message"))
		if s.Phase = corev1.PodSucceeded; code != 0 {
			s.Phase = corev1.PodFailed
		}
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", StartedAt: p.started, Message: string(message)}}
	default:
		if p.isReady(ctx) {
			s.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
	}
	s.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: state}}
}

func (p *process) isReady(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d%s", p.ip, plan.MetricsPort, plan.ReadyPath), nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// write replaces a file at once.
func write(path, content string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == content {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
