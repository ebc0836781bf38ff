// Package access has the flags and variables of etcdctl that lead to an etcd: addresses, certificates and a user.
//
// It imports the plan, which has the credentials of a run, and etcd's library for DNS records. Every flag and every
// variable of etcdctl has an effect, or the command tells the user that it has none.
package access
