package namespaces

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("not allowed"))

// access answers each look at a namespace with the next of its answers; the last one repeats. A namespace without answers
// is readable.
func access(answers map[string][]error, refuse string) Access {
	answer := func(request string, options []client.ListOption) error {
		if request != refuse {
			return nil
		}
		list := &client.ListOptions{}
		list.ApplyOptions(options)
		known := answers[list.Namespace]
		if len(known) == 0 {
			return nil
		}
		if len(known) > 1 {
			answers[list.Namespace] = known[1:]
		}
		return known[0]
	}
	c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return answer("list", options)
		},
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			return watch.NewFake(), answer("watch", options)
		},
	})
	return Access{Client: c, Names: []string{"a", "b"}, Kinds: []client.Object{&corev1.Pod{}}}
}

func TestOnlyARefusalMakesANamespaceUnreadable(t *testing.T) {
	for _, request := range []string{"list", "watch"} {
		view, err := access(map[string][]error{"b": {forbidden}}, request).Look(t.Context())
		if err != nil || !slices.Equal(view.Readable, []string{"a"}) || view.Refused["b"] == nil {
			t.Errorf("%s refused: found %+v and %v, wanted a readable and b refused", request, view, err)
		}
		view, err = access(map[string][]error{"a": {errors.New("timeout")}}, request).Look(t.Context())
		if err == nil || !slices.Equal(view.Readable, []string{"b"}) || len(view.Refused) > 0 {
			t.Errorf("%s fails: found %+v and %v, wanted b readable, and an error about a", request, view, err)
		}
	}
}

// An API server that starts refuses everything for a moment.
func TestOneRefusalChangesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		before  View
		answers []error
		want    bool
	}{
		"readable as before":          {View{Readable: []string{"a", "b"}}, nil, false},
		"refused as before":           {View{Readable: []string{"a"}, Refused: map[string]error{"b": forbidden}}, []error{forbidden}, false},
		"refused, then unknown":       {View{Readable: []string{"a"}, Refused: map[string]error{"b": forbidden}}, []error{errors.New("timeout")}, false},
		"refused twice at a time":     {View{Readable: []string{"a", "b"}}, []error{forbidden, forbidden, nil, forbidden, forbidden, nil}, false},
		"refused again and again":     {View{Readable: []string{"a", "b"}}, []error{forbidden}, true},
		"refused with gaps":           {View{Readable: []string{"a", "b"}}, []error{forbidden, errors.New("timeout"), forbidden, forbidden}, true},
		"refused before, and not now": {View{Readable: []string{"a"}, Refused: map[string]error{"b": forbidden}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := access(map[string][]error{"b": tc.answers}, "list")
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if !tc.want {
				// Ten looks suffice for all answers.
				a.Client = countdown{a.Client, 20, cancel}.client()
			}
			if got := a.AwaitChange(ctx, tc.before, time.Millisecond); got != tc.want {
				t.Errorf("changed: %v, wanted %v", got, tc.want)
			}
		})
	}
}

// countdown ends the context after some lists.
type countdown struct {
	client.WithWatch
	lists int
	end   context.CancelFunc
}

func (c countdown) client() client.WithWatch {
	return interceptor.NewClient(c.WithWatch, interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if c.lists--; c.lists == 0 {
				c.end()
			}
			return inner.List(ctx, list, options...)
		},
	})
}
