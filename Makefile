# Ostraka. `make` alone lists what there is to do.
#
# `make demo` and `make test` install what is missing first; see scripts/setup.sh.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL: # prerequisites are steps in order; go and gotestsum use all cores by themselves
.DELETE_ON_ERROR:

# What may be set from outside:
PKGS      ?= ./...
TESTFLAGS ?=
FUZZTIME  ?= 10s
ROUNDS    ?= 10
SHORT     ?=
ABUSEFLAGS ?=
KILLS     ?= 200
SEED      ?= 1
CHAOSFLAGS ?=
VERSION    = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

TOOLS := .cache/bin

.PHONY: help
help:
	@echo "What one does:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo; echo "What one seldom does:"
	@awk -F ':.*##- ' '/^[a-z-]+:.*##- / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/ostraka
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ostraka ./cmd/ostraka

.PHONY: cross
cross: ##- build for linux, darwin and windows on amd64 and arm64, with checksums, into bin/cross
	VERSION=$(VERSION) scripts/cross.sh bin/cross

.PHONY: packages
packages: build ##- pack bin/ostraka as deb and rpm, into bin/packages
	scripts/setup.sh release
	VERSION=$(VERSION) scripts/packages.sh bin/ostraka $$(go env GOARCH) bin/packages

.PHONY: release
release: ##- all files of a release, with packages, what they are made of and checksums, into bin/release (TARGETS=linux/amd64 for some)
	scripts/setup.sh release
	VERSION=$(VERSION) scripts/release.sh bin/release

# Needs Go alone: no daemon, no registry. The same commit makes the same digest.
.PHONY: image
image: build ##- pack bin/ostraka into an image for Docker, Podman and Kubernetes: bin/ostraka-image.tar
	go run ./deploy/image -version $(VERSION)

.PHONY: demo
demo: ## from nothing to a verified answer: four agents, one of them a liar
	scripts/setup.sh demo
	$(MAKE) --no-print-directory build
	bin/ostraka demo

.PHONY: campaign
campaign: ## a search above 2^64 on twenty agents of which six lie, checked in every way; minutes (SHORT=1: below it, less than a minute)
	scripts/setup.sh demo
	$(MAKE) --no-print-directory build
	bin/ostraka demo campaign $(if $(SHORT),--small)

# GORACE: tests start thousands of processes, and each that is built with the race detector would sleep for a second at its end.
.PHONY: test
test: ## run every test (PKGS=./blob/... for some, TESTFLAGS='-run Name' for more of go test's flags)
	scripts/setup.sh test $(PKGS)
	$(MAKE) --no-print-directory build
	GORACE=atexit_sleep_ms=0 $(TOOLS)/gotestsum --format pkgname --format-hide-empty-pkg --jsonfile .cache/tests.json \
		--post-run-command scripts/after-tests.sh --raw-command -- \
		scripts/run-tests.sh $(TESTFLAGS) -- $(PKGS)

.PHONY: race
race: ##- run every test, with the race detector where there are goroutines, as CI does
	scripts/setup.sh race $(PKGS)
	$(MAKE) --no-print-directory test TESTFLAGS='-race $(TESTFLAGS)'

.PHONY: soak-tests
soak-tests: ## run tests ROUNDS (10) times, in another order each, beside a load on every core
	scripts/setup.sh test $(PKGS)
	$(MAKE) --no-print-directory build
	TESTFLAGS='$(TESTFLAGS)' scripts/soak-tests.sh $(ROUNDS) $(PKGS)

.PHONY: fuzz
fuzz: ##- run each fuzz target for FUZZTIME (10s)
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: ## measure everything beside its peers; the last lines are `name value` pairs (ONLY=part, RUNS=4, BASE=FILE to compare, LONG=1: to 10^7 shards)
	scripts/setup.sh bench
	$(MAKE) --no-print-directory build
	go run ./bench $(if $(ONLY),-only "$(ONLY)") $(if $(RUNS),-runs $(RUNS)) $(if $(BASE),-base "$(BASE)") $(if $(LONG),-long)

.PHONY: abuse
abuse: ## attack a server as one hostile participant could; fails where others are harmed (SHORT=1: about a minute)
	scripts/setup.sh demo
	$(MAKE) --no-print-directory build
	go run ./bench/abuse $(if $(SHORT),-short) $(ABUSEFLAGS)

.PHONY: test-upgrade
test-upgrade: ##- upgrade in the middle of a job, from a program of before that is built from the history
	scripts/setup.sh test ./e2e
	go test -tags upgrade -run TestAnUpgradeInTheMiddleOfAJob -timeout 30m ./e2e

.PHONY: chaos
chaos: ## kill parts of an installation 200 times (KILLS=20 for some), and check answers and books; SEED=1 says which and when
	scripts/setup.sh bench
	$(MAKE) --no-print-directory build
	go run ./bench/chaos -kills $(KILLS) -seed $(SEED) $(CHAOSFLAGS)

# Needs Go alone. Takes long: 8 seeds of 10^6 shards to most populations. Its short form is among the tests.
.PHONY: bench-trust
bench-trust: ##- simulate the verification against agents that lie; the last lines are `name value` pairs (SHORT=1: seconds)
	go run ./bench/trust $(if $(SHORT),-short)

.PHONY: lint
lint: ## formatting, linters, import arrows, sizes of packages, workflows, shell scripts
	scripts/setup.sh lint
	scripts/check-arrows.sh
	scripts/check-room-sizes.sh
	$(TOOLS)/golangci-lint run
	$(TOOLS)/actionlint
	shellcheck .ci/run $$(git ls-files --cached --others --exclude-standard '*.sh')

.PHONY: fmt
fmt: ## format the Go code
	scripts/setup.sh lint
	$(TOOLS)/golangci-lint fmt

# The client is made from openapi.yaml, which is made from the API's Go code.
.PHONY: generate
generate: build ## regenerate openapi.yaml and the Go client
	bin/ostraka openapi >bin/openapi.yaml
	mv bin/openapi.yaml openapi.yaml
	go generate ./...

.PHONY: check-generated
check-generated: ##- fail when a generated file is not what `make generate` makes
	scripts/unchanged.sh $(MAKE) --no-print-directory generate

.PHONY: modules
modules: ## rebuild the WASM modules that ship
	scripts/setup.sh modules
	wasm/builtin/build.sh
	examples/modules/build.sh
	examples/sieve/build.sh
	examples/bpsw-rust/build.sh

.PHONY: check-modules
check-modules: ##- fail when a WASM module that ships is not what `make modules` makes, to the byte
	scripts/unchanged.sh $(MAKE) --no-print-directory modules

# Needs no server: web/dist is committed, so that Go alone builds everything.
.PHONY: web
web: ##- build the portal into web/dist, and hold it to its budget
	scripts/setup.sh web
	npm run --silent --prefix web build

.PHONY: check-web
check-web: ##- fail when web/dist is not what `make web` makes, to the byte
	scripts/unchanged.sh $(MAKE) --no-print-directory web

.PHONY: check
check: ## everything CI checks
	.ci/run

.PHONY: clean
clean: ##- delete what make built: bin and .cache (Go's own caches stay)
	rm -rf bin .cache
