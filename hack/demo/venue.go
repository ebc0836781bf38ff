package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// venue is where the demo takes place.
type venue string

const (
	// venueCurrent is the cluster of the current kubectl context.
	venueCurrent venue = "current"
	// venueKind is the demo's own kind cluster.
	venueKind venue = "kind"
	// venueHost is a cluster on this host, by hack/cluster.
	venueHost venue = "host"
	// venueLocal needs no cluster.
	venueLocal venue = "local"
)

// builtHere is the image that `make` builds by default.
const builtHere = "etcdbench.dev/etcd-benchmark-operator:dev"

// surroundings has the facts that decide on the venue.
type surroundings struct {
	// cluster and image are the variables CLUSTER and IMG.
	cluster, image string
	docker, kind   bool
	debian, root   bool
}

func look(ctx context.Context) surroundings {
	works := func(name string, args ...string) bool { return exec.CommandContext(ctx, name, args...).Run() == nil }
	_, debian := os.Stat("/etc/debian_version")
	return surroundings{
		cluster: os.Getenv("CLUSTER"),
		image:   cmp.Or(os.Getenv("IMG"), builtHere),
		docker:  works("docker", "info"),
		kind:    works("kind", "version"),
		debian:  runtime.GOOS == "linux" && debian == nil,
		root:    os.Geteuid() == 0,
	}
}

// choose returns the venue and the reason, for the user.
func (s surroundings) choose() (venue, string, error) {
	switch {
	case s.cluster == "current" && s.image == builtHere:
		return "", "", errors.New("CLUSTER=current needs IMG=repository:tag, an image of the operator that the cluster can pull: push what `make image IMG=…` builds")
	case s.cluster == "current":
		return venueCurrent, "the cluster of the current kubectl context, because CLUSTER=current is set", nil
	case s.cluster != "":
		return "", "", fmt.Errorf("CLUSTER: wanted current or an empty value, found %q", s.cluster)
	case s.docker && s.kind:
		return venueKind, "a kind cluster, because Docker and kind are available", nil
	case s.debian && s.root:
		return venueHost, "a cluster on this host: Docker with kind is not available, but this is Debian and you are root", nil
	default:
		return venueLocal, "a cluster needs Docker with kind, or Debian and root", nil
	}
}
