// Package access has the flags and variables of etcdctl that lead to an etcd: addresses, certificates and a user.
//
// It imports the plan, for the form in which credentials are passed on, and etcd's library for DNS records. Its one
// invariant: every flag and every variable of etcdctl has an effect, or the user is told that it has none.
package access
