package command

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/advice"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// flag is a flag with a value.
func flag(name string) advice.Flag { return advice.Flag{Name: name} }

// accessPhrases are the advices of drivers about the access to the target, with what a user of the flags does. In a
// manifest, the fields mean Secrets, which a run on this machine does not have.
func (f *runFlags) accessPhrases() map[string]advice.Flag {
	ca, pair, user := cmp.Or(f.access.TLSBy(), "--cacert"), "--cert and --key", cmp.Or(f.access.UserBy(), "--user")
	phrases := map[string]advice.Flag{
		"set " + tlsField: flag("add --cacert"), "remove " + tlsField: flag("remove " + ca), "set " + serverNameField: flag("add --tls-server-name"),
		"set " + authField: flag("add --user"), "check " + authField: flag("check " + user), "separately (" + authField + ")": flag("with --user"),
		"in " + authField: flag("with --token-file"),
	}
	if f.access.TLSDir != "" {
		ca, pair = "ca.crt in --tls-dir", "tls.crt and tls.key in --tls-dir"
	}
	phrases["ca.crt of "+tlsField], phrases["tls.crt and tls.key of "+tlsField] = flag(ca), flag(pair)
	return phrases
}

// accessFlags has them for a command without a manifest, where the fields mean flags wherever they stand. Such a command knows
// only etcd, which takes no token.
func (f *runFlags) accessFlags() map[string]advice.Flag {
	flags := f.accessPhrases()
	delete(flags, "in "+authField)
	for field, name := range map[string]string{"target.tls": "--cacert", "target.tls.serverName": "--tls-server-name", "target.auth": "--user", "target.endpoints": "--endpoints"} {
		flags[field] = flag(name)
	}
	return flags
}

// adviceOf is how the user of run sets fields: in the manifest. With --local, flags give the access to the target.
func (f *runFlags) adviceOf() advice.Command {
	if !f.local {
		return advice.Command{}
	}
	return advice.Command{Flags: f.accessPhrases()}
}

// adviceOf is how the user of check sets fields. The profile or the number of nodes fixes the load.
func (f *checkFlags) adviceOf() advice.Command {
	flags, by := f.accessFlags(), "--profile"
	if f.given("kubernetes-nodes") {
		by = "--kubernetes-nodes"
	}
	for field, name := range map[string]string{"profile": "--profile", "kubernetes": "--kubernetes-nodes", "kubernetes.nodes": "--kubernetes-nodes"} {
		flags[field] = flag(name)
	}
	return advice.Command{Flags: flags, Set: true, Fixed: map[string]string{"load": by, "workload": by, "objectives": by}}
}

// setsField is the field that the help of a flag names at its end.
var setsField = regexp.MustCompile(`: (?:spec\.)?([a-z]\w*(?:\.\w+)+)$`)

// adviceOf is how the user of a command of bench sets fields: the help of its flags names them.
func (f *benchFlags) adviceOf(set *pflag.FlagSet) advice.Command {
	flags := map[string]advice.Flag{}
	if f.local {
		flags = f.accessFlags()
	}
	set.VisitAll(func(defined *pflag.Flag) {
		if sets := setsField.FindStringSubmatch(defined.Usage); sets != nil && manifest.IsField(sets[1]) && !defined.Hidden {
			flags[sets[1]] = advice.Flag{Name: "--" + defined.Name, Switch: defined.Value.Type() == "bool"}
			// A part of the flag's field is a field of its own: load.rate.
			if parent, _, cut := strings.Cut(sets[1], ".perSecond"); cut {
				flags[parent] = flag("--" + defined.Name)
			}
		}
	})
	// Without the flag, all members get the load.
	for _, phrase := range []string{"set spec.target.members: All", "change spec.target.members"} {
		flags[phrase] = flag("leave out --target-leader")
	}
	flags["Set spec.target.members: All"] = flag("Leave out --target-leader")
	for field, name := range map[string]string{"kubernetes": "kubectl etcdbench check --kubernetes-nodes", "profile": "kubectl etcdbench check --profile"} {
		flags[field] = flag(name)
	}
	return advice.Command{Flags: flags, Set: true}
}

// adviceOf is how the user of clean sets what leads to the target. Nothing else has an effect.
func (f *cleanFlags) adviceOf() advice.Command {
	flags := f.target.accessFlags()
	flags["target.keyPrefix"] = flag("PREFIX")
	return advice.Command{Flags: flags}
}
