PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 4
# Hostile programs mostly sit out their limits: more of them at a time keep two cores busy.
ATTACKERS ?= 5
# Without byte code, each of the hundreds of commands that the tests run would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help demo docs picture test test-python test-cluster attack lint package bench soak example image clean sandbox

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "grade needs Python 3.11 or later; name one with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "Python's venv is missing. Run: sudo apt-get install python3-venv"; exit 1; fi
	@echo "Setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install -qq --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.ready
	@$(BIN)/python -m pip install -qq --group dev
	@touch $@

# Something to run untrusted code in: an engine that answers, or bubblewrap.
sandbox:
	@if docker info >/dev/null 2>&1 || command -v bwrap >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing bubblewrap (the sandbox)"; apt-get update -qq && apt-get install -y -qq bubblewrap >/dev/null; \
	else echo "No sandbox on this machine. Run: sudo apt-get install bubblewrap"; exit 1; fi

demo: $(VENV)/.ready sandbox ## Grade the bundled HumanEval-V sample in a sandbox
	@mkdir -p demo && cp benchmarks/humaneval-v/sample/predictions.json demo/
	$(BIN)/grade demo/predictions.json --data benchmarks/humaneval-v/sample/tasks.jsonl -k 1,3

test: $(VENV)/.dev sandbox ## Run the tests
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

test-python: ## Run the tests on another Python, in an environment of its own (PYTHON=python3.13)
	@$(MAKE) test VENV=.venv-$(notdir $(PYTHON))

test-cluster: $(VENV)/.dev sandbox ## Run the tests of --executor ray: a real cluster of three nodes on this machine (a minute or two)
	$(BIN)/pytest tests/executors -m cluster

attack: $(VENV)/.dev sandbox ## Run the containment suite: some 240 programs, most of them hostile, in every sandbox (about ten minutes; ONLY=words for a part)
	$(BIN)/pytest tests/sandbox -n $(ATTACKERS) --dist loadgroup -m hostile $(if $(ONLY),-k "$(ONLY)")

lint: $(VENV)/.dev ## Check types and style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

package: $(VENV)/.dev ## Build the wheel and the source distribution in dist/, and check them
	@rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

docs: $(VENV)/.dev ## Build the documentation site in site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

picture: $(VENV)/.dev ## Make the README's picture of a report again (needs Chromium)
	$(BIN)/python tests/tools/draw_report.py

bench: $(VENV)/.dev sandbox ## Measure speed (DATA=folder with tasks.jsonl and predictions.json for a corpus of your own; OFFICIAL=checkout of HumanEval-V's evaluator)
	$(BIN)/python tests/bench/bench.py $(if $(DATA),--data $(DATA)) $(if $(OFFICIAL),--official $(OFFICIAL))

example: $(VENV)/.ready sandbox ## Train a toy policy on graded rewards with TRL (installs torch in .venv-example: gigabytes)
	@$(PYTHON) -m venv .venv-example
	@.venv-example/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@.venv-example/bin/python -m pip install -qq --editable . 'trl>=1.16,<2'
	.venv-example/bin/python examples/grpo_toy.py

soak: $(VENV)/.dev sandbox ## Send 200,000 programs through one pool from eight threads and watch its memory (PROGRAMS=n for fewer)
	$(BIN)/python tests/bench/soak.py --programs $(or $(PROGRAMS),200000)

image: $(VENV)/.ready ## Build the sandbox image
	$(BIN)/grade image build

clean: ## Remove what the targets above made here
	rm -rf demo dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis .venv-* $(VENV)
