#!/usr/bin/env bash
# Installs or upgrades the operator with Helm, and waits until it is ready. Environment:
#   IMG         the operator's image: repository:tag or repository@sha256:…
#   CLUSTER     empty: the cluster that `make cluster-up` started; current: the one of the current kubectl context;
#               any other value: the path of a kubeconfig
#   HELM_FLAGS  more flags for Helm, for example: --set replicas=2
set -euo pipefail
cd "$(dirname "$0")/.."
: "${IMG:?set IMG to the image of the operator}"

case "${CLUSTER:-}" in
  current) ;;
  "") export KUBECONFIG=bin/cluster/kubeconfig ;;
  *) export KUBECONFIG=$CLUSTER ;;
esac
if [[ -n "${KUBECONFIG:-}" && "${CLUSTER:-}" != current && ! -f "$KUBECONFIG" ]]; then
  echo "wanted the kubeconfig $KUBECONFIG, found none: run make cluster-up first, or set CLUSTER=current to use the cluster of the current kubectl context" >&2
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
more=()
if [[ "${CLUSTER:-}" != current ]]; then
  # An image that was rebuilt with the same tag must replace the running operator, so its digest becomes a pod annotation.
  if [[ -f bin/image/manager ]]; then
    content=$(cat bin/image/manager bin/image/loadgen | sha256sum | cut -c1-16)
    more+=(--set-string "podAnnotations.etcdbench\.dev/image-content=$content")
  fi
  # In a development cluster, the release takes over a CRD that was applied by hand.
  more+=(--take-ownership --force-conflicts)
fi

release=(etcd-benchmark-operator --namespace etcdbench-system)
# A release whose first installation failed or was interrupted cannot be upgraded.
if history=$(bin/tools/helm history "${release[@]}" 2>&1); then
  if ! grep -qE 'deployed|superseded' <<<"$history"; then
    bin/tools/helm uninstall "${release[@]}" --no-hooks --ignore-not-found
  fi
elif [[ "$history" != *"not found"* ]]; then
  echo "could not find out whether the operator is already installed: $history" >&2
  exit 1
fi
exec bin/tools/helm upgrade --install "${release[@]}" charts/etcd-benchmark-operator \
  --create-namespace --wait --timeout 3m "${image[@]}" "${more[@]}" ${HELM_FLAGS:-}
