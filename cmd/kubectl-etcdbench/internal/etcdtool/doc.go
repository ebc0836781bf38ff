// Package etcdtool turns a command of etcd's benchmark tool into an EtcdBenchmark that does the same.
//
// It imports the API and pflag, and has no side effects. Each flag of the tool becomes a part of the EtcdBenchmark, has
// the same effect in any case, or is refused with what to do instead. No flag is ignored in silence.
package etcdtool
