# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CORE   := pyproject.toml CMakeLists.txt $(shell find src/core -type f)
PARTS  := $(wildcard tests/parts/*.cpp tests/parts/*.hpp)
BENCH  := .venv-bench
PEERS  := $(BENCH)/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint build clean bench bench-quick guard

demo: $(STAMP)
	$(BIN)/clearning demo

test: $(STAMP) lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

build: $(STAMP)

# The editable install points at src/clearning, so only a change of the core or of the metadata rebuilds.
# It alone carries clearning._parts, through which tests/parts reach the parts of the core.
$(STAMP): $(CORE) $(PARTS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" ninja cmake
	$(BIN)/python -m pip install --quiet --no-build-isolation \
		--config-settings=cmake.define.CLEARNING_PARTS=ON --editable ".[plots,test]"
	touch $@

# Benchmarks: the peers in an environment of their own; results go to benchmarks/RESULTS.md.
bench: $(PEERS)
	$(BENCH)/bin/python benchmarks/bench.py

bench-quick: $(PEERS)
	$(BENCH)/bin/python benchmarks/bench.py --quick

# Instruction counts of three small workloads against those in benchmarks/guard.json.
guard: $(STAMP)
	$(BIN)/python benchmarks/guard.py

$(PEERS): $(CORE) $(wildcard src/clearning/*.py src/clearning/*/*.py) benchmarks/peers.txt
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python benchmarks/install.py
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) build
