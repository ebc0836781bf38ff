// Package zookeeper is the driver of ZooKeeper 3.5 and newer, and of servers that
// speak its protocol.
//
// It imports load for the contract, plan for what to do, remote for what drivers share, and go-zookeeper for the
// protocol. Every change of a run under its prefix but the load's own is one transaction that checks the marker of that
// run.
package zookeeper
