# `make` and `make help` list the targets. Tools for development are built from pinned modules into bin/tools.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# IMG is the operator's image. The default exists only where `make image` or `make demo` put it.
IMG ?= etcdbench.dev/etcd-benchmark-operator:dev
# VERSION is the version that the binaries report.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# CLUSTER=current makes `demo` and `deploy` use the cluster of the current kubectl context. Without it, they touch no
# cluster that you already use.
CLUSTER ?=
# LEVEL of `make e2e`: quick (about 20 minutes) or all.
LEVEL ?= quick
# FUZZTIME is how long `make fuzz` runs each fuzz test. FUZZ is a pattern for their names.
FUZZTIME ?= 1m
FUZZ ?=
# RELEASE_FLAGS are more flags of `make release`; go run ./hack/release --help lists them.
RELEASE_FLAGS ?=

TOOLS := bin/tools
# Tests whose results a busy machine would change are named TestAlone…, and all are in ALONE.
ALONE := cmd/kubectl-etcdbench/internal/faults
# FIRST are packages that wait long and work little. They start first, so that the others run beside them.
FIRST := ./internal/datastore/etcd ./$(ALONE) ./cmd/kubectl-etcdbench ./cmd/kubectl-etcdbench/internal/local ./controllers ./internal/load
# BESIDE is how many packages run side by side, and how many parallel tests of each: most of them wait for servers. GARBAGE
# makes the garbage collectors of tests and of the servers that they start run less often, which saves a fifth of the processor time. Test
# binaries have no debugging symbols (BARE), which halves the time to link them.
BESIDE := -p 6 -parallel 6
GARBAGE := GOGC=400
BARE := -ldflags='-s -w'
CHART := charts/etcd-benchmark-operator
LDFLAGS := -s -w -X main.version=$(VERSION)
# go.mod alone decides from which modules the programs are built.
GO_BUILD := GOWORK=off go build -trimpath -ldflags '$(LDFLAGS)'
GO_DIRS := api cmd config controllers hack internal
# PACKAGES are those of both modules: the product's, and hack's.
PACKAGES := ./... ./hack/...
TAGGED := ./hack/e2e/... ./hack/verify/... ./internal/datastore/... ./cmd/kubectl-etcdbench ./cmd/kubectl-etcdbench/internal/report

# Nothing here needs C. Without it, linking all tests takes about a fifth less time.
export CGO_ENABLED := 0
export IMG CLUSTER

##@ Start here

.PHONY: help
help: ## Show this page.
	@bold= plain=; if [ -t 1 ] && [ -z "$${NO_COLOR:-}" ]; then bold='\033[1m' plain='\033[0m'; fi; \
	awk -v bold="$$bold" -v plain="$$plain" 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s%s%s\n", bold, substr($$0, 5), plain} \
	  /^[a-z][a-z0-9-]*:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo; echo "Variables: IMG=image  VERSION=version  CLUSTER=current  LEVEL=quick|all (make e2e)  FUZZTIME=10m FUZZ=pattern (make fuzz)"

.PHONY: demo
demo: ## Benchmark three etcd members on this machine; then start a cluster, install the operator, benchmark an etcd there.
	go run ./hack/demo

.PHONY: test
test: test-tools ## Run unit, property, envtest and real-etcd tests; no root needed.
	$(GARBAGE) KUBEBUILDER_ASSETS=$(CURDIR)/$(TOOLS) go test $(BESIDE) $(BARE) -count=1 -timeout 20m -skip '^TestAlone' $(FIRST) $(PACKAGES)

.PHONY: test-alone
test-alone: test-tools ## Run the tests that a busy machine makes fail; they wait for a quiet one, for 5 minutes at most.
	go test -parallel 4 $(BARE) -count=1 -timeout 20m -run '^TestAlone' ./$(ALONE)

.PHONY: test-versions
test-versions: test-tools tools-etcds tools-kube-apiserver-1.30 ## Test the transports on etcd 3.6, 3.7 and Debian's (3.4 on Debian 12); API and controllers on Kubernetes 1.30.
	go test -tags=versions -count=1 -timeout 20m ./hack/verify/transports
	KUBEBUILDER_ASSETS=$(CURDIR)/$(TOOLS) TEST_ASSET_KUBE_APISERVER=$(CURDIR)/$(TOOLS)/kube-apiserver-1.30 \
	  go test -count=1 -timeout 20m ./api/... ./controllers/... ./hack/verify/install

.PHONY: test-stores
test-stores: tools-stores tools-kine tools-etcdctl ## Test the drivers of other stores on real servers: ZooKeeper 3.9 and Debian's, kine and Consul.
	go test -tags=stores -count=1 -parallel 6 -timeout 10m ./internal/datastore/zookeeper
	ZOOKEEPER=3.9 go test -tags=stores -count=1 -parallel 6 -timeout 10m ./internal/datastore/zookeeper
	go test -tags=stores -count=1 -parallel 6 -timeout 10m ./internal/datastore/consul
	go test -tags=stores -count=1 -parallel 6 -timeout 10m -run Kine ./internal/datastore/etcd
	go test -tags=stores -count=1 -parallel 6 -timeout 10m -run 'ZooKeeper|Kine|Consul' ./cmd/kubectl-etcdbench

.PHONY: test-prometheus
test-prometheus: build test-tools tools-promtool tools-prometheus ## Test the chart's alerts with Debian's promtool, and its dashboards on a Prometheus that scrapes real runs.
	go test -tags=prometheus -count=1 -timeout 5m ./hack/verify/alerts
	KUBEBUILDER_ASSETS=$(CURDIR)/$(TOOLS) go test -tags=prometheus $(BARE) -count=1 -timeout 10m ./hack/verify/dashboards

.PHONY: report-test
report-test: tools-chromium tools-axe-core ## Look at reports with Debian's Chromium: layout, colours, accessibility; out/pages has the pictures.
	go test -tags=browser $(BARE) -count=1 -run ForChromium ./cmd/kubectl-etcdbench/internal/report
	go test -tags=browser $(BARE) -count=1 -timeout 10m ./hack/verify/pages

.PHONY: trials
trials: plugin ## Measure on a real etcd how often comparisons and searches are right; 25 minutes on an idle machine.
	go test -tags=trials -count=1 -v -timeout 60m ./hack/trials

.PHONY: published
published: plugin tools-etcd tools-etcds ## Run every published table on this machine; docs/published.md and out/published.html are the result. LEVEL=quick takes 15 minutes beside `make stores`, LEVEL=none only writes the tables.
	test -e out/stores.json || $(MAKE) stores LEVEL=$(LEVEL)
	go run ./cmd/kubectl-etcdbench/internal/published -level $(LEVEL) $(SUITES)

.PHONY: stores
stores: plugin tools-etcd tools-stores ## Compare etcd, ZooKeeper and Consul on this machine; out/stores.html is the report. LEVEL=quick takes 20 minutes, LEVEL=all hours.
	mkdir -p out bin/stores
	bin/kubectl-etcdbench run --local -f config/samples/$(if $(filter all,$(LEVEL)),published/suite_stores,advanced/suite_stores_quick).yaml --data-dir bin/stores \
	  --member-binary etcd=bin/tools/etcd --member-binary zookeeper=bin/tools/zkServer.sh --member-binary consul=bin/tools/consul -o html=out/stores.html -o json=out/stores.json -o table

##@ Build

.PHONY: build
build: ## Build bin/manager, bin/loadgen and bin/kubectl-etcdbench.
	$(GO_BUILD) -o bin/ ./cmd/manager ./cmd/loadgen ./cmd/kubectl-etcdbench
	install cmd/kubectl-etcdbench/kubectl_complete-etcdbench bin/

.PHONY: plugin
plugin:
	$(GO_BUILD) -o bin/ ./cmd/kubectl-etcdbench

.PHONY: image-binaries
image-binaries:
	GOOS=linux $(GO_BUILD) -o bin/image/ ./cmd/manager ./cmd/loadgen

.PHONY: image
image: image-binaries ## Build the image IMG with docker, or with buildah into bin/image.tar.
	hack/image.sh '$(IMG)' '$(VERSION)'

.PHONY: release
release: tools-helm ## Write the files of a release into dist, the same bytes each time: VERSION=v0.1.0.
	GOTOOLCHAIN=go$$(GOWORK=off go list -m -f '{{.GoVersion}}') go run ./hack/release -version '$(VERSION)' $(RELEASE_FLAGS)

##@ Cluster

.PHONY: cluster-up
cluster-up: ## Start a real Kubernetes on this Debian host (as root); print the path of its kubeconfig.
	go run ./hack/cluster up

.PHONY: cluster-down
cluster-down: ## Remove that cluster and restore the host.
	go run ./hack/cluster down

.PHONY: deploy
deploy: tools-helm ## Install or upgrade the operator IMG with Helm in that cluster, or in CLUSTER=current.
	hack/deploy.sh

.PHONY: e2e
e2e: build tools-helm tools-prometheus tools-kine tools-stores tools-java-base ## Run the end-to-end tests on a real cluster, as root; LEVEL=all runs all and writes hack/e2e/results.md.
	go test -tags=e2e -count=1 -v -timeout $(if $(filter all,$(LEVEL)),90m,35m) ./hack/e2e -args -level=$(LEVEL)

##@ Develop

.PHONY: generate
generate: tools-controller-gen ## Write the deep copy functions of the API.
	$(TOOLS)/controller-gen object paths=./api/...

.PHONY: manifests
manifests: tools-controller-gen ## Write CRD and RBAC from the code's markers, and the policies for Secrets, into config; copy all into the chart; write its dashboards.
	$(TOOLS)/controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	go run ./hack/crds config/crd/bases/*.yaml
	$(TOOLS)/controller-gen rbac:roleName=etcd-benchmark-operator paths=./controllers/... paths=./cmd/manager/... output:rbac:dir=config/rbac
	go run ./hack/policies config/policies
	rm -rf $(CHART)/generated && mkdir -p $(CHART)/generated/crds $(CHART)/generated/policies/strict
	cp config/crd/bases/*.yaml $(CHART)/generated/crds/
	cp config/policies/[!k]*.yaml $(CHART)/generated/policies/
	cp config/policies/strict/[!k]*.yaml $(CHART)/generated/policies/strict/
	cp config/rbac/role.yaml $(CHART)/generated/
	go run ./hack/dashboards $(CHART)/generated/dashboards

.PHONY: reference
reference: tools-crd-ref-docs ## Write docs/api.md from the API's comments.
	@mkdir -p docs && $(TOOLS)/crd-ref-docs --source-path=api --config=hack/reference/config.yaml \
	  --templates-dir=hack/reference/templates --renderer=markdown --output-path=docs/api.md --max-depth=20 --log-level=ERROR

.PHONY: perf
perf: build tools-etcds tools-benchmark tools-benchmark-3.7 tools-stores tools-hey ## Compare our clients with etcd's tool, h2load and hey, and those of all stores; write hack/perf/results.md.
	go run ./hack/perf clients

.PHONY: perf-memory
perf-memory: build tools-etcd tools-benchmark tools-benchmark-3.7 ## Measure the memory of 10 M requests and of 10,000 connections; write hack/perf/results.md.
	go run ./hack/perf memory

.PHONY: perf-parity
perf-parity: build tools-etcd tools-benchmark tools-benchmark-3.7 ## Compare throughput and p50 of each load of etcd's tool with ours; write hack/perf/results.md.
	go run ./hack/perf parity

# SCALE_FLAGS are more flags of `make scale`; go run ./hack/scale --help lists them.
SCALE_FLAGS ?=
.PHONY: scale
scale: tools-kube-apiserver tools-etcd tools-kube-controller-manager ## Measure what the operator costs beside thousands of runs; write out/scale.json. SCALE_FLAGS='-size small' needs two minutes.
	$(GO_BUILD) -o bin/ ./cmd/manager
	go run ./hack/scale $(SCALE_FLAGS)

.PHONY: fuzz
fuzz: ## Fuzz the code that reads untrusted input, FUZZTIME for each test; FUZZ selects tests by name.
	hack/fuzz.sh '$(FUZZTIME)' '$(FUZZ)'

.PHONY: lint
lint: tools-staticcheck tools-helm ## Check formatting, go vet, staticcheck and the chart.
	@unformatted=$$(gofmt -l $(GO_DIRS)); [[ -z "$$unformatted" ]] || { echo "run gofmt -w on:" $$unformatted; exit 1; }
	for check in "go vet" $(TOOLS)/staticcheck; do \
	  $$check $(PACKAGES); \
	  $$check -tags=e2e,versions,stores,prometheus,browser $(TAGGED); \
	  $$check -tags=trials ./hack/trials; \
	  $$check -tags=faults ./internal/load; \
	done
	$(TOOLS)/helm lint --strict $(CHART)

.PHONY: vulnerabilities
vulnerabilities: tools-govulncheck
	go run ./hack/verify/vulnerabilities $(PACKAGES)

.PHONY: verify
verify: generate manifests reference lint vulnerabilities ## Fail if a generated file is out of date, a repository rule is broken, or a known vulnerability is called.
	go mod tidy -diff && go -C hack mod tidy -diff && go work sync
	go test -count=1 ./hack/verify/house
	@changes=$$(git status --porcelain); [[ -z "$$changes" ]] || { \
	  echo "generated files are out of date, or files are not committed:"; echo "$$changes"; git --no-pager diff --stat; exit 1; }

.PHONY: test-tools
test-tools: tools-kube-apiserver tools-kube-controller-manager tools-kubectl tools-etcd tools-etcd-slow tools-etcdctl tools-helm tools-kustomize tools-govulncheck

.PHONY: tools-%
tools-%:
	@go run ./hack/tools $*

.PHONY: clean
clean: ## Remove build outputs; tools and a running cluster stay.
	rm -rf bin/manager bin/loadgen bin/kubectl-etcdbench bin/image bin/image.tar bin/release dist out
