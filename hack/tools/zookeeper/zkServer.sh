#!/bin/sh
# Starts the ZooKeeper of zookeeper-debian, which lies in the same folder, as ZooKeeper's own script of this name does:
#   zkServer.sh start-foreground FILE.cfg
# SERVER_JVMFLAGS has the flags of Java.
set -eu
if [ "$#" != 2 ] || [ "$1" != start-foreground ]; then
  echo "usage: $0 start-foreground FILE.cfg" >&2
  exit 2
fi
root=$(dirname "$(readlink -f "$0")")/zookeeper-debian
classes=
for jar in "$root"/usr/share/java/*.jar; do
  # Of the log backends, only the one that needs no file.
  case "${jar##*/}" in
  slf4j-api* | slf4j-simple*) ;;
  slf4j-*) continue ;;
  esac
  classes=$classes:$jar
done
for java in "$root"/usr/lib/jvm/java-*/bin/java; do
  # shellcheck disable=SC2086 # each flag is a word
  exec "$java" ${SERVER_JVMFLAGS:-} -cp "$classes" org.apache.zookeeper.server.quorum.QuorumPeerMain "$2"
done
