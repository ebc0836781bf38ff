package namespaces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Access looks at what the operator may read.
type Access struct {
	Client client.WithWatch
	Names  []string
	// Kinds are the objects that the operator's cache lists and watches.
	Kinds []client.Object
}

// View is the result of a look: each namespace is readable or refused, unless the look had an error.
type View struct {
	Readable []string
	// Refused has the API server's answers.
	Refused map[string]error
}

// Look sends the requests with which a cache begins. An error is about the namespaces that are missing in the view.
func (a Access) Look(ctx context.Context) (View, error) {
	view, failed := View{Refused: map[string]error{}}, []error(nil)
	for _, name := range a.Names {
		switch err := a.read(ctx, name); {
		case err == nil:
			view.Readable = append(view.Readable, name)
		case apierrors.IsForbidden(err):
			view.Refused[name] = err
		default:
			failed = append(failed, fmt.Errorf("reading the namespace %s: %w", name, err))
		}
	}
	return view, errors.Join(failed...)
}

// read lists and watches each kind. A right to list does not include the right to watch.
func (a Access) read(ctx context.Context, namespace string) error {
	for _, kind := range a.Kinds {
		gvk, err := a.Client.GroupVersionKindFor(kind)
		if err != nil {
			return err
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := a.Client.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
			return err
		}
		from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
		watch, err := a.Client.Watch(ctx, list, client.InNamespace(namespace), from)
		if err != nil {
			return err
		}
		watch.Stop()
	}
	return nil
}

// refusedLooks is how many looks in a row must be refused until a namespace that was readable is not. While an API server
// starts, it refuses requests that are allowed.
const refusedLooks = 3

// AwaitChange looks again and again. It returns true when a namespace that was refused is readable, or the other way round,
// and false when the context has ended.
func (a Access) AwaitChange(ctx context.Context, before View, every time.Duration) bool {
	refused := map[string]int{}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(every):
		}
		now, err := a.Look(ctx)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Could not look at the namespaces; looking again", "in", every.String())
		}
		if change := changeOf(before, now, refused); change != "" {
			log.FromContext(ctx).Info("The operator starts again, because its namespaces have changed", "change", change)
			return true
		}
	}
}

// changeOf describes what differs; refused counts the refusals of namespaces that were readable.
func changeOf(before, now View, refused map[string]int) string {
	for _, name := range now.Readable {
		delete(refused, name)
		if before.Refused[name] != nil {
			return "it may read the namespace " + name
		}
	}
	for name, err := range now.Refused {
		if !slices.Contains(before.Readable, name) {
			continue
		}
		if refused[name]++; refused[name] >= refusedLooks {
			return fmt.Sprintf("it may no longer read the namespace %s: %v", name, err)
		}
	}
	return ""
}
