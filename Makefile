# One command each. CI runs them too: see .ci/run.
GO ?= go
export CGO_ENABLED ?= 0

GOFUMPT     = mvdan.cc/gofumpt@v0.12.0
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

# Packages in which several goroutines meet.
CONCURRENT = ./vector ./engine ./engine/connector/... ./engine/internal/exec/... ./engine/internal/job/... ./udf

BENCH      ?= .
BENCHPKG   ?= ./vector/... ./engine/internal/state ./engine/internal/expr ./engine/internal/op
FUZZTIME   ?= 20s

.PHONY: build check test race conformance oracle fuzz bench soak plugins

build:
	$(GO) build -o bin/weir ./cmd/weir

# Formatting, vet, static analysis, layers, generated files, tidy modules.
check:
	@test -z "$$($(GO) run $(GOFUMPT) -l .)" || { echo "run: go run $(GOFUMPT) -w ."; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 -run TestLayers .
	$(GO) generate ./...
	$(GO) mod tidy -diff
	cd conformance/oracle && $(GO) mod tidy -diff
	git diff --exit-code

test:
	$(GO) test ./...

race:
	CGO_ENABLED=1 $(GO) test -race -short $(CONCURRENT)

conformance:
	$(GO) test ./conformance/...

# Results against SQLite's, in a module of its own.
oracle:
	cd conformance/oracle && $(GO) vet ./... && $(GO) test -count=1 ./...

# Every fuzz target for FUZZTIME.
fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

# Benchmarks; with OLD=<revision> that revision's too, interleaved and compared.
bench:
	@if [ -z "$(OLD)" ]; then \
	  $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(BENCHPKG); \
	else \
	  rm -rf .bench && git worktree add -f --detach .bench $(OLD) >/dev/null && : > bench.old.out && : > bench.new.out; \
	  for i in 1 2 3 4 5 6 7 8 9 10; do \
	    (cd .bench && $(GO) test -run '^$$' -bench '$(BENCH)' $(BENCHPKG)) >> bench.old.out; \
	    $(GO) test -run '^$$' -bench '$(BENCH)' $(BENCHPKG) >> bench.new.out; \
	  done; \
	  git worktree remove --force .bench; \
	  $(GO) run $(BENCHSTAT) bench.old.out bench.new.out; \
	fi

# The long runs: the same tests with many more seeds and rows.
soak:
	WEIR_SOAK=1 $(GO) test -count=1 -timeout 3h ./engine/... ./conformance/...
	cd conformance/oracle && WEIR_SOAK=1 $(GO) test -count=1 -timeout 1h ./...

# The modules that are committed, built from their sources. Functions in C need sdk/c/install-toolchain.sh.
plugins:
	WEIR_REBUILD=1 $(GO) test -count=1 -run '^TestRebuild$$' -v ./sdk/c ./plugins/... ./cmd/weir/internal/udfbuild
