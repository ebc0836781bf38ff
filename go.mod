module github.com/etcdbench/etcd-benchmark-operator

go 1.26.8
