# Everything from a bare Debian 12 or 13: `make demo` shows the main job, `make test` runs all checks.
# SIMGRID_PREFIX=/path uses the SimGrid 4.1 installed there instead of building one, SIMGRID_SOURCE=/path/archive.tar.xz
# builds another SimGrid from its source archive.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP    := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := $(wildcard cpp/*.hpp cpp/*/*)
# What `make lint` calls C++: the plug-in and the benchmarks' programs.
CPP     := $(wildcard cpp/*.hpp cpp/*/*.cpp cpp/*/*.hpp benchmarks/*.cpp benchmarks/*.hpp)
# In the order of their names: the documentation, few tests that take long, must not come last.
PYTEST  := -n 2 --dist loadfile --no-loadscope-reorder
# Compiled once, not by each of the many processes that tests start.
unexport PYTHONDONTWRITEBYTECODE
BUILD   := --no-build-isolation -C cmake.define.SIMPLUGIN_WERROR=ON

.PHONY: help
help:
	@echo "make demo     set up everything and run the demonstration"
	@echo "make test     set up everything and run all checks (lint, types, wheel, tests)"
	@echo "make docs     the site, in build/docs"
	@echo "make coverage all tests, and what they execute of each module"
	@echo "make wheel    one self-contained wheel in dist/"
	@echo "make wheels   wheels for an index in wheelhouse/, one for each Python here, each one tried"
	@echo "make release  these wheels and the source archive, as an index gets them"
	@echo "make install  the development environment in $(VENV)/"
	@echo "make lint     style, types and import contracts"
	@echo "make tidy     clang-tidy on the plug-in and the kernels, some minutes"
	@echo "make sanitize the plug-in's tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make format   reformat Python and C++"
	@echo "make simgrid  SimGrid in the cache outside the checkout"
	@echo "make constraints  newer versions of what the checks run with"
	@echo "make test-packages  what only tests need: Chromium, in which they open reports, and locales"
	@echo "make clean    remove what was built here (the cache, $(VENV)/ and results in out/ and scenarios/out/ stay)"

.PHONY: demo
demo: install
	@$(BIN)/simplugin run scenarios/demo.toml
	echo
	$(BIN)/simplugin run scenarios/pricing.toml
	echo
	$(BIN)/simplugin run scenarios/bags.toml
	echo
	$(BIN)/simplugin run scenarios/taskgraphs.toml
	echo
	$(BIN)/simplugin run scenarios/market.toml
	echo
	$(BIN)/simplugin run scenarios/jobs.toml
	echo
	$(BIN)/simplugin run scenarios/grid5000.toml
	$(BIN)/simplugin platform draw platforms_xml/grid5000.xml -o scenarios/out/grid5000/platform.png
	echo wrote scenarios/out/grid5000/platform.png
	echo
	$(BIN)/simplugin reproduce all --quick -o out/reproductions
	$(BIN)/simplugin report out/reproductions/store.sqlite -o out/reproductions/report

# The wheel, which takes over the plug-in's objects, is made beside the checks of style and types, the
# site is built, and the tests are compiled.
.PHONY: test
test: test-packages install
	@$(MAKE) --no-print-directory -j 2 lint docs wheel collection
	echo "== Tests"
	$(BIN)/python -m pytest $(PYTEST) --wheel="$$(echo dist/*.whl)" tests

# What tests execute of each module. Every simulation has a process of its own, whose start and end
# cost more than twice as much with coverage: hence this is no part of the checks.
.PHONY: coverage
coverage: install
	@rm -f .coverage .coverage.*
	$(BIN)/python -m pytest $(PYTEST) --cov --cov-report=term tests

.PHONY: lint
lint: install
	@echo "== Style, types, import contracts, class names"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_class_names.py
	$(if $(CPP),$(BIN)/clang-format --dry-run -Werror $(CPP))

# Offline, with warnings as errors.
.PHONY: docs
docs: install
	@echo "== Documentation"
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -c docs -d build/doctrees . build/docs
	$(BIN)/python tools/check_site.py build/docs

.PHONY: tidy
tidy: install
	@simgrid=$$(cat $(STAMPS)/simgrid)
	includes=$$($(BIN)/python -c "import pybind11, sysconfig; print('-isystem', pybind11.get_include(), '-isystem', sysconfig.get_path('include'))")
	ls cpp/*/*.cpp | xargs -P "$$(nproc)" -I{} $(BIN)/clang-tidy --quiet {} -- -std=c++17 -isystem $$simgrid/include -isystem $$simgrid/kernel $$includes

# Python itself is not compiled with them, so that their libraries have to be loaded first. Python's own allocator would hide
# what happens to the memory of objects. The plug-in of the other targets is compiled anew afterwards.
.PHONY: sanitize
sanitize: install
	@trap 'rm -f $(STAMPS)/plugin' EXIT
	$(PIP) install -qq --no-compile $(BUILD) -C build-dir=build/sanitize -C cmake.define.SIMPLUGIN_SANITIZE=ON \
	  -C cmake.define.SIMPLUGIN_SIMGRID="$$(cat $(STAMPS)/simgrid)" -c tools/constraints.txt -e .
	libraries=$$(for name in asan ubsan stdc++; do $${CXX:-g++} -print-file-name=lib$$name.so; done | paste -sd :)
	LD_PRELOAD=$$libraries ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	  $(BIN)/python -m pytest $(PYTEST) tests/simulation/conformance

.PHONY: collection
collection: install
	@$(BIN)/python -m pytest --collect-only -qq tests >/dev/null

.PHONY: format
format: install
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(if $(CPP),$(BIN)/clang-format -i $(CPP))

.PHONY: wheel
wheel: install
	@echo "== Wheel"
	rm -rf dist
	$(PIP) wheel -qq --no-deps $(BUILD) -C cmake.define.SIMPLUGIN_SIMGRID="$$(cat $(STAMPS)/simgrid)" -w dist .
	ls -sh dist/*.whl

# Of each Python that is there, or of PYTHONS="python3.12 ...", for every Linux with glibc 2.28 or newer.
.PHONY: wheels
wheels: $(STAMPS)/dependencies
	@$(PIP) install -qq --no-compile -c tools/constraints.txt --group wheels
	$(BIN)/python tools/build_wheels.py $(PYTHONS)

# What an index gets: wheels and the source archive, from which a wheel is built, too.
.PHONY: release
release: wheels $(STAMPS)/simgrid
	@echo "== Source archive"
	$(BIN)/python -m build --sdist --no-isolation -o wheelhouse . >/dev/null
	$(PIP) wheel -qq --no-deps $(BUILD) -C cmake.define.SIMPLUGIN_SIMGRID="$$(cat $(STAMPS)/simgrid)" -w build/from-archive wheelhouse/*.tar.gz
	$(BIN)/twine check --strict wheelhouse/*
	ls -sh wheelhouse

# New versions of what the checks run with.
.PHONY: constraints
constraints: $(BIN)/python
	@$(PIP) install -qq --no-compile --upgrade pip
	$(PIP) install -qq --no-compile --upgrade --upgrade-strategy eager --group dev --group wheels
	{ head -n 2 tools/constraints.txt; $(PIP) freeze --all --exclude-editable; } >tools/constraints.new
	mv tools/constraints.new tools/constraints.txt

# Packages arrive while SimGrid is compiled.
.PHONY: install
install:
	@$(MAKE) --no-print-directory -j 2 $(STAMPS)/plugin

# An editable install knows the modules of when it was made.
$(STAMPS)/modules: force
	@mkdir -p $(STAMPS)
	find simplugin -name "*.py" | sort >$@.new
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# The editable install: Python files are used where they are, the plug-in is rebuilt when its sources change.
$(STAMPS)/plugin: $(STAMPS)/dependencies $(STAMPS)/simgrid $(STAMPS)/modules CMakeLists.txt pyproject.toml cpp $(SOURCES)
	@echo "== Plug-in"
	$(PIP) install -qq --no-compile $(BUILD) -C cmake.define.SIMPLUGIN_SIMGRID="$$(cat $(STAMPS)/simgrid)" -c tools/constraints.txt -e .
	touch $@

# Always asked, since the cache may have been harmed; the stamp changes only when the answer does.
.PHONY: simgrid
simgrid $(STAMPS)/simgrid: force | $(STAMPS)/pip
	@mkdir -p $(STAMPS)
	$(BIN)/python tools/build_simgrid.py --stamp $(STAMPS)/simgrid

.PHONY: force
force:

$(STAMPS)/dependencies: pyproject.toml tools/constraints.txt | $(STAMPS)/pip
	@echo "== Python packages"
	mkdir -p $(STAMPS)
	$(PIP) install -qq --no-compile -c tools/constraints.txt --group dev
	touch $@

# A pip that knows groups, before two targets use it at a time.
$(STAMPS)/pip: tools/constraints.txt | $(BIN)/python
	@mkdir -p $(STAMPS)
	$(PIP) --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV) # it was interrupted
	$(PIP) install -qq --no-compile --upgrade -c tools/constraints.txt "pip>=25.1"
	touch $@

$(BIN)/python: | system
	@echo "== Virtual environment"
	$(PYTHON) -m venv $(VENV)

.PHONY: system
system:
	@tools/system_packages.sh "$$(test -x $(BIN)/python && echo $(BIN)/python || command -v $(PYTHON) || echo python3)"

.PHONY: test-packages
test-packages:
	@tools/system_packages.sh $(PYTHON) tests

.PHONY: clean
clean:
	@rm -rf api build dist wheelhouse .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -f $(STAMPS)/plugin
