#!/usr/bin/env bash
# Builds the image $1 of version $2 from the Dockerfile and bin/image: with docker if its engine is running, otherwise with
# buildah into the archive bin/image.tar.
set -euo pipefail
cd "$(dirname "$0")/.."
image=$1
arguments=(--build-arg="VERSION=$2" --build-arg="REVISION=$(git rev-parse --verify HEAD 2>/dev/null || true)")

if docker info >/dev/null 2>&1; then
  docker build --quiet "${arguments[@]}" --tag "$image" .
  echo "built $image in docker"
  exit
fi
command -v buildah >/dev/null || {
  echo "wanted a running docker engine or buildah to build $image, found neither: install one of them" >&2
  exit 1
}

# A temporary store: only the archive remains. vfs and chroot need no kernel features.
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT
buildah() { command buildah --root="$store/root" --runroot="$store/run" --storage-driver=vfs "$@"; }
buildah bud --quiet --isolation=chroot --pull-never "${arguments[@]}" --tag="$image" . >/dev/null
rm -f bin/image.tar
buildah push --quiet "$image" "docker-archive:bin/image.tar:$image"
echo "built $image into bin/image.tar; go run ./hack/cluster load-image bin/image.tar loads it into the development cluster"
