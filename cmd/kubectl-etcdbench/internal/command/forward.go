package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
)

// forward opens an address of this machine for each running pod behind service/NAME or pod/NAME. It needs the right to forward
// ports of pods, as kubectl port-forward does. The addresses last until ctx ends. throttling is that of these pods.
func (t *tool) forward(ctx context.Context, objects []string, port uint16) (addresses []string, throttling etcd.Throttling, err error) {
	cluster, namespace, _, err := t.cluster()
	if err != nil {
		return nil, nil, err
	}
	api, err := corev1client.NewForConfig(cluster.Config())
	if err != nil {
		return nil, nil, err
	}
	pods, err := podsOf(ctx, api, namespace, objects)
	if err != nil {
		return nil, nil, err
	}
	behind := map[string]forwarded{}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning {
			t.tell(fmt.Sprintf("Pod %s is %s: it cannot be looked at.", pod.Name, pod.Status.Phase))
			continue
		}
		address, err := forwardPod(ctx, cluster.Config(), api, pod, port)
		if err != nil {
			return nil, nil, fmt.Errorf("forwarding port %d of pod %s in namespace %s: %w", port, pod.Name, namespace, err)
		}
		t.tell(fmt.Sprintf("%s is port %d of pod %s.", address, port, pod.Name))
		addresses, behind[address] = append(addresses, address), forwarded{pod.Namespace, pod.Name, pod.Spec.NodeName}
	}
	if len(addresses) == 0 {
		return nil, nil, fmt.Errorf("%s in namespace %s has no running pod: name the Service or the pods of an etcd", strings.Join(objects, ", "), namespace)
	}
	return addresses, podThrottling(api.RESTClient(), behind), nil
}

// podsOf finds the pods that the arguments name. Those of a Service need not be ready.
func podsOf(ctx context.Context, api corev1client.CoreV1Interface, namespace string, objects []string) (pods []corev1.Pod, err error) {
	for _, object := range objects {
		kind, name, _ := strings.Cut(object, "/")
		switch {
		case name == "":
			return nil, fmt.Errorf("wanted service/NAME or pod/NAME, found %q", object)
		case kind == "pod":
			pod, err := api.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			pods = append(pods, *pod)
		case kind == "service" || kind == "svc":
			service, err := api.Services(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			if len(service.Spec.Selector) == 0 {
				return nil, fmt.Errorf("service/%s selects no pods: name them, as pod/NAME, or use --endpoints", name)
			}
			found, err := api.Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(service.Spec.Selector).String()})
			if err != nil {
				return nil, err
			}
			pods = append(pods, found.Items...)
		default:
			return nil, fmt.Errorf("wanted service/NAME or pod/NAME, found %q", object)
		}
	}
	return pods, nil
}

// forwardPod returns the address that leads to a port of a pod.
func forwardPod(ctx context.Context, config *rest.Config, api *corev1client.CoreV1Client, pod corev1.Pod, port uint16) (string, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return "", err
	}
	url := api.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	websocket, err := portforward.NewSPDYOverWebsocketDialer(url, config)
	if err != nil {
		return "", err
	}
	// API servers before 1.31 know only SPDY.
	dialer := portforward.NewFallbackDialer(websocket, spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url), func(error) bool { return true })
	ready := make(chan struct{})
	// What a pod refuses is a finding. The library would also write it to the terminal.
	silent := logr.NewContext(ctx, logr.Discard())
	forwarder, err := portforward.NewOnAddressesWithContext(silent, dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, ready, nil, nil)
	if err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		return "", errors.Join(err, ctx.Err())
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0].Local), nil
}
