// Package disk is the driver of a disk: a folder in which etcd's own write-ahead log is written. A request appends one
// entry and flushes it. Two times are measured: the whole request, and the fdatasync alone.
//
// The log writes through etcd's package wal, into a file of 64 MB whose space is allocated before. This package calls
// fdatasync itself, on the same file and with etcd's function, because wal keeps that time in a histogram of the whole process.
// The files have no names once they are open, so a killed process leaves nothing. A log is replaced before its file is full,
// because wal renames files then.
//
// It imports load for the contract, plan for what to do, and etcd's packages wal and fileutil.
package disk
