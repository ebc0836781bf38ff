// Package zookeepertest starts ZooKeeper for tests: that of bin/tools, which `make tools-stores`
// installs.
//
// It imports go-zookeeper, faulttest and the standard library.
package zookeepertest
