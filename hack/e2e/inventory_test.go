//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inventory is the set of all objects in the API server, by resource,
// namespace and name.
type inventory map[string]bool

func (e *environment) takeInventory() error {
	var err error
	if e.before, err = e.inventory(e.ctx); err != nil {
		return err
	}
	// An empty inventory would find nothing left in any case.
	if known := "namespaces. /kube-system"; !e.before[known] {
		return fmt.Errorf("wanted %q among the %d objects of the inventory", known, len(e.before))
	}
	return nil
}

// inventory lists everything that can be listed, except events and the content of the suite's namespaces.
func (e *environment) inventory(ctx context.Context) (inventory, error) {
	lists, err := discovery.ServerPreferredResources(e.set.Discovery())
	if err != nil {
		return nil, err
	}
	found := inventory{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if err := e.addObjects(ctx, found, version, resource); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

func (e *environment) addObjects(ctx context.Context, found inventory, version schema.GroupVersion, resource metav1.APIResource) error {
	if resource.Name == "events" || !slices.Contains(resource.Verbs, "list") {
		return nil
	}
	var objects metav1.PartialObjectMetadataList
	objects.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
	if err := e.client.List(ctx, &objects); err != nil {
		return fmt.Errorf("listing %s: %w", resource.Name, client.IgnoreNotFound(err))
	}
	for _, object := range objects.Items {
		// A node's lease is created, and recreated, by its kubelet.
		if object.Namespace == corev1.NamespaceNodeLease {
			continue
		}
		if strings.HasPrefix(object.Namespace+object.Name, "e2e-") {
			continue
		}
		found[fmt.Sprintf("%s.%s %s/%s", resource.Name, version.Group, object.Namespace, object.Name)] = true
	}
	return nil
}

// added returns, sorted, what the inventory has in addition to before.
func (i inventory) added(before inventory) []string {
	var names []string
	for name := range i {
		if !before[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
