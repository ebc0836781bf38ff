// Package processtest starts the servers of tests as processes.
//
// Only tests import it. On Linux, a server ends with the test process, also if that is killed: no cleanup runs then.
package processtest
