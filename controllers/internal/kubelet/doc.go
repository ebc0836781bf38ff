// Package kubelet reads what the kubelets of nodes measured of members' pods around the measured window of a run.
//
// A kubelet samples a container every 10 to 20 s, and a request forces no sample. So the figures are rates between the
// last sample before the window and the first one after it, each with its own time. A node is read once at the start
// of the window, and after its end until it has a newer sample of each pod, at most seven times.
//
// It imports the API and client-go's transports. Its state is lost with the process: the run then has no such figures,
// and says why.
package kubelet
