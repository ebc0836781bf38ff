package command

import (
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeFlags are the flags of kubectl that the plugin offers. The kubeconfig has the rest. The flags of cli-runtime would
// link kustomize, too.
type kubeFlags struct {
	kubeconfig, context, namespace, as string
	asGroups                           []string
}

func (k *kubeFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&k.kubeconfig, "kubeconfig", k.kubeconfig, "read the kubeconfig in this `FILE`")
	flags.StringVar(&k.context, "context", k.context, "use the context `NAME` of the kubeconfig")
	flags.StringVarP(&k.namespace, "namespace", "n", k.namespace, "use the namespace `NAME`")
	flags.StringVar(&k.as, "as", k.as, "impersonate the user `NAME`, for example a service account")
	flags.StringArrayVar(&k.asGroups, "as-group", k.asGroups, "impersonate the group `NAME`; repeat it for more groups")
}

// names are those of the flags.
func (k *kubeFlags) names() (names []string) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	k.addTo(flags)
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// loader reads the kubeconfig when it is first used.
func (k *kubeFlags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: k.context,
		Context:        clientcmdapi.Context{Namespace: k.namespace},
		AuthInfo:       clientcmdapi.AuthInfo{Impersonate: k.as, ImpersonateGroups: k.asGroups},
	})
}
