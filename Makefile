# What a person types. Each target is one line of work; the work itself stands in tools/, one concept per file.
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# The binary is promised at target/release/leat, so a target directory set elsewhere is not followed.
export CARGO_TARGET_DIR := $(CURDIR)/target

# The addon is built where its crate is there.
ADDON_CRATE := $(if $(wildcard crates/host/node/Cargo.toml),-p leat-node)

.PHONY: run build test bench check fmt soak clean help

run: build ## build what is missing and start the demo on loopback
	@exec target/release/leat demo $(ARGS)

build: ## leave the binary at target/release/leat and the npm package ready at packages/leat
	@tools/prerequisites.sh
	@cargo build --release --locked -p leat-cli $(ADDON_CRATE)
	@node tools/package.mjs
	@$(if $(ADDON_CRATE),node tools/addon.mjs release)

test: ## build and pass every test; ONLY="clippy h2spec" picks stages
	@tools/prerequisites.sh
	@node tools/test.mjs $(ONLY)

bench: ## measure Leat beside its rivals; ONLY=… picks scenarios
	@tools/prerequisites.sh
	@tools/install.sh bench
	@node bench/run.mjs

check: ## formatting, clippy, eslint, types and the rules of the layout; fast, starts nothing
	@tools/prerequisites.sh
	@node tools/test.mjs fmt clippy layout package lint types deny

fmt: ## format the Rust sources
	@cargo fmt --all

soak: ## long runs, bounded in time; SOAK_SECONDS=… for each (default 60)
	@tools/prerequisites.sh
	@node tools/soak.mjs $(ONLY)

clean: ## remove everything that was built
	@rm -rf target fuzz/target bench/out packages/leat/dist packages/leat/native
	@find . -name node_modules -type d -prune -exec rm -rf {} +

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name text; do printf '  make %-7s %s\n' "$$name" "$$text"; done
