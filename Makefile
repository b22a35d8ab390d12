# The two commands to know: `make demo` and `make test`. `make help` lists all.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BIN := bin
TOOLS := $(BIN)/tools
GO ?= go
# ARGS goes to the demo: ARGS=--exit ends it by itself.
ARGS ?=
# GOTEST_ARGS goes to every go test, such as GOTEST_ARGS='-run TestPlan -v'.
GOTEST_ARGS ?=

# build-tool NAME PACKAGE: builds a pinned tool once for each state of hack/tools/go.sum.
define build-tool
$(TOOLS)/$(1): hack/tools/go.mod hack/tools/go.sum
	@echo "building $(1) (once, cached in $(TOOLS))"
	@CGO_ENABLED=0 $(GO) -C hack/tools build -ldflags "-s -w" -o $(CURDIR)/$(TOOLS)/$(1) $(2)
	@touch $$@
endef
$(eval $(call build-tool,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen))
$(eval $(call build-tool,crd-ref-docs,github.com/elastic/crd-ref-docs))
$(eval $(call build-tool,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint))

##@ Use

.PHONY: demo
demo: ## Show the main job on real control planes; ARGS=--exit ends it by itself
	@echo "compiling the demo"
	@$(GO) build -o $(BIN)/demo ./test/demo
	@exec $(BIN)/demo $(ARGS)

.PHONY: build
build: ## Build the manager into bin/manager
	CGO_ENABLED=0 $(GO) build -ldflags "-s -w" -o $(BIN)/manager .

##@ Test

.PHONY: test
test: test-unit test-integration ## Run every test

.PHONY: test-unit
test-unit: ## Run the unit and property tests, with the race detector
	$(GO) test -race $(GOTEST_ARGS) . ./api/... ./config/... ./controllers/... ./internal/...

# Suites that have not yet passed often enough on a quiet machine to hold CI up. They
# move to SUITES as they do.
TRIAL := crash nodetaints norules outage scale
SUITES := ./test/harness/... ./test/infrastructure/... $(addprefix ./test/integration/,admission taints life)

.PHONY: test-integration
test-integration: binaries ## Run the suites on real control planes, with the race detector
	$(GO) test -race -p 1 -timeout 40m $(GOTEST_ARGS) $(SUITES)

.PHONY: test-trial
test-trial: binaries ## Run the suites that are still on trial: crashes, plan table, bad specs, 500 Machines
	$(GO) test -race -p 1 -timeout 60m $(GOTEST_ARGS) $(addprefix ./test/integration/,$(TRIAL))

.PHONY: binaries
binaries: ## Build etcd, Kubernetes and Cluster API from their Go modules into bin/, once
	@$(GO) run ./test/harness/cmd/binaries

##@ Develop

.PHONY: generate
generate: $(TOOLS)/controller-gen $(TOOLS)/crd-ref-docs ## Regenerate deepcopy, CRDs, RBAC and the API reference
	$(TOOLS)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/... paths=./test/infrastructure/api/...
	$(TOOLS)/controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	$(TOOLS)/controller-gen crd paths=./test/infrastructure/api/... output:crd:dir=test/infrastructure/config/crd
	$(TOOLS)/controller-gen rbac:roleName=manager-role paths=. paths=./controllers/... output:rbac:dir=config/rbac
	@mkdir -p docs/reference
	$(TOOLS)/crd-ref-docs --source-path=api/v1alpha1 --config=hack/crd-ref-docs.yaml --renderer=markdown --output-path=docs/reference/api.md --log-level=ERROR

.PHONY: verify
verify: generate ## Fail where a generated file or go.mod is stale
	$(GO) mod tidy
	$(GO) -C hack/binaries mod tidy
	@dirty="$$(git status --porcelain -- api config docs test/infrastructure go.mod go.sum hack)"; \
	if [ -n "$$dirty" ]; then echo "stale, or not committed; run 'make generate' and commit:"; echo "$$dirty"; git --no-pager diff -- api config docs test/infrastructure go.mod go.sum hack | head -100; exit 1; fi
	@echo "generated files are up to date"

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Run gofmt, go vet and the linter
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$unformatted" ]; then echo "gofmt these:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOLS)/golangci-lint run --allow-parallel-runners

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf $(BIN)

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make TARGET\n"} /^[a-zA-Z_-]+:.*?##/ {printf "  %-18s %s\n", $$1, $$2} /^##@/ {printf "\n%s\n", substr($$0, 5)}' $(MAKEFILE_LIST)
