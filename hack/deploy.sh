#!/usr/bin/env bash
# Installs or upgrades the operator with Helm, and waits until it is ready. Environment:
#   IMG      the operator's image: repository:tag or repository@sha256:…
#   CLUSTER  empty: the cluster that `make cluster-up` started; current: the one of the current kubectl context;
#            else the path of a kubeconfig
set -euo pipefail
cd "$(dirname "$0")/.."
: "${IMG:?set IMG to the image of the operator}"

case "${CLUSTER:-}" in
  current) ;;
  "") export KUBECONFIG=bin/cluster/kubeconfig ;;
  *) export KUBECONFIG=$CLUSTER ;;
esac
if [[ -n "${KUBECONFIG:-}" && "${CLUSTER:-}" != current && ! -f "$KUBECONFIG" ]]; then
  echo "wanted the kubeconfig $KUBECONFIG, found none: run make cluster-up first, or say CLUSTER=current to use the cluster of the current kubectl context" >&2
  exit 1
fi

if [[ "$IMG" == *@sha256:* ]]; then
  image=(--set "image.repository=${IMG%@*}" --set "image.digest=${IMG#*@}")
elif [[ "${IMG##*/}" == *:* ]]; then
  image=(--set "image.repository=${IMG%:*}" --set-string "image.tag=${IMG##*:}")
else
  echo "wanted IMG as repository:tag or repository@sha256:…, found $IMG" >&2
  exit 1
fi
# A tag that was built again must replace the running operator, so what is in the image becomes part of the pod.
if [[ "${CLUSTER:-}" != current && -f bin/image/manager ]]; then
  content=$(cat bin/image/manager bin/image/loadgen | sha256sum | cut -c1-16)
  image+=(--set-string "podAnnotations.etcdbench\.dev/image-content=$content")
fi

exec bin/tools/helm upgrade --install etcd-benchmark-operator charts/etcd-benchmark-operator \
  --namespace etcdbench-system --create-namespace --wait --timeout 3m "${image[@]}"
