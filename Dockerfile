# The operator and its client pods share one image: two static binaries and nothing else, so that there is no base
# image to pull or to patch. `make image` builds the binaries into bin/image first; then docker and buildah both work.
FROM scratch

LABEL org.opencontainers.image.title="etcd-benchmark-operator" \
      org.opencontainers.image.description="Runs etcd benchmarks as Kubernetes custom resources" \
      org.opencontainers.image.source="https://github.com/etcdbench/etcd-benchmark-operator" \
      org.opencontainers.image.url="https://github.com/etcdbench/etcd-benchmark-operator" \
      org.opencontainers.image.documentation="https://github.com/etcdbench/etcd-benchmark-operator/tree/main/docs" \
      org.opencontainers.image.licenses="Apache-2.0"

ARG VERSION REVISION
LABEL org.opencontainers.image.version=$VERSION org.opencontainers.image.revision=$REVISION

COPY bin/image/manager bin/image/loadgen /

# Numeric, so that the kubelet can check runAsNonRoot without a passwd file.
USER 65532:65532
ENTRYPOINT ["/manager"]
