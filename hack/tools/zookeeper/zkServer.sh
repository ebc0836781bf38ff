#!/bin/sh
# Starts the ZooKeeper of zookeeper-3.9 with the Java of zookeeper-debian, which lie in the same folder, as ZooKeeper's own
# script of this name does:
#   zkServer.sh start-foreground FILE.cfg
# SERVER_JVMFLAGS has the flags of Java.
set -eu
if [ "$#" != 2 ] || [ "$1" != start-foreground ]; then
  echo "usage: $0 start-foreground FILE.cfg" >&2
  exit 2
fi
here=${0%/*}
for java in "$here"/zookeeper-debian/usr/lib/jvm/java-*/bin/java; do
  # shellcheck disable=SC2086 # each flag is a word
  exec "$java" ${SERVER_JVMFLAGS:-} -cp "$here/zookeeper-3.9/*" org.apache.zookeeper.server.quorum.QuorumPeerMain "$2"
done
