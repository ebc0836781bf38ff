// Package login keeps a token of etcd's authentication valid while many connections use it.
package login
