// Package zookeepertest starts ZooKeeper for tests: bin/tools/zookeeper-debian, which `make tools-zookeeper-debian`
// installs.
//
// It imports go-zookeeper and the standard library.
package zookeepertest
