# Every target works on a fresh machine with Python 3.11+ and make: .venv is made first.
# `make images`, `make up` and `make down` need Docker with Compose v2 instead.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-languages check bench images up down constraints

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

venv: $(INSTALLED) ## make .venv with every extra and the development tools

# The stamp is older than its sources after either changes, and then pip brings .venv up to date.
# An older pip knows no dependency groups, hence the upgrade. Compiling 15,000 modules would take
# twice as long as the rest; Python compiles those that are imported by itself.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    f"Python 3.11 or newer is needed, $(PYTHON) is {sys.version.split()[0]}: make PYTHON=...")'
	@echo "Installing into .venv; the first time takes some minutes."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e ".[all]" --group dev
	@touch $@

demo: venv ## train the toy model on CPU: no Docker, no Redis, no downloads
	$(BIN)/python -m trainer run trainer/recipes/toy.yaml

test: check ## check, then run every test
	$(BIN)/pytest

check: venv ## lint, formatting, types and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test-languages: venv images ## build the images (2 GB), then try every language in them
	REWARDEN_TEST_REQUIRE=docker,bwrap,languages $(BIN)/pytest tests/integration/test_sandbox_languages.py

bench: venv ## run every benchmark
	@$(BIN)/python -m pip install --quiet -c constraints.txt --group bench
	@set -e; for file in benchmarks/[a-z]*.py; do \
	    echo "== $$file"; $(BIN)/python -m "benchmarks.$$(basename "$$file" .py)"; done

images: ## build what untrusted programs run in: small (python, bash) and full (every language)
	docker build -f sandbox/images/Dockerfile --target small -t rewarden-sandbox:small .
	docker build -f sandbox/images/Dockerfile --target full -t rewarden-sandbox:full .

up: ## build and start the services with Docker Compose; the gateway listens on 127.0.0.1:8080
	docker compose up -d --build --wait

down: ## stop them; the queue's data is kept
	docker compose down

# torch keeps its version, as that decides the CUDA release a GPU machine gets: move it by hand.
# What torch pins itself (its CUDA libraries) stays out, so that one file serves every machine.
constraints: ## pin the newest versions that pyproject.toml allows
	@set -e; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PYTHON) -m venv "$$fresh"; pip="$$fresh/bin/python -m pip"; \
	$$pip install --quiet --upgrade "pip>=25.1"; \
	$$pip install --quiet --no-compile "$$(grep '^torch==' constraints.txt)" -e ".[all]" --group dev; \
	{ sed '/^#/!d' constraints.txt; \
	  $$pip freeze --all --exclude pip --exclude-editable \
	  | sed -E '/^(nvidia-|cuda-|triton)/d; s/\+[a-z0-9.]+$$//'; } > "$$fresh/constraints.txt"; \
	cp "$$fresh/constraints.txt" constraints.txt
