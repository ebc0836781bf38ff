package v1alpha1

import (
	"slices"
	"testing"
)

func TestHostPorts(t *testing.T) {
	given := []string{"http://a:1", "https://b:2", "c:3", "http://[::1]:4/", "http://a:1/"}
	if got := HostPorts(given); !slices.Equal(got, []string{"a:1", "b:2", "c:3", "[::1]:4"}) || given[0] != "http://a:1" {
		t.Errorf("found %v, and %v was given", got, given)
	}
}
