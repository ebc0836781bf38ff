// Package supervisor starts members of a store as processes of their own. The plugin starts one supervisor (itself, see Main), and
// the supervisor starts the members. Its standard input is a pipe that only the plugin holds. When the pipe closes, because
// the plugin has ended in any way, the supervisor kills the members and removes their data.
//
// cluster.go and ready.go are the plugin's side, supervise.go the supervisor's, order.go what they tell each other.
package supervisor
