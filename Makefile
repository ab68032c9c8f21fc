# Every target makes its prerequisites, does nothing if it is up to date, and can be interrupted and run again.
#
#   PYTHON=python3.12   the interpreter with which .venv is made     ARGS=...   arguments for the program that runs
#   CXX=clang++         the compiler                                PINS=      install without the tested versions

# `:=` takes a value of the command line, and not one that a user has exported. Compilers may be exported: CXX and NVCC.
PYTHON := python3
ARGS :=
PINS := -c .ci/constraints.txt
UPGRADE :=
CMAKE_ARGS :=
BESIDE :=

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
ENVIRONMENT := $(PYTHON) .ci/environment.py
# Programs that a user may interrupt.
RUN := .ci/interruptible.py
# The editable install only puts the checkout on Python's path. The extension is built here, by ninja.
INSTALL_US := env SKBUILD_WHEEL_CMAKE=false $(ENVIRONMENT) install --no-build-isolation
# The environment of notebooks and of the learner's shell: `python`, `gdb` and `reftorch-course` are those of .venv.
IN_VENV := env VIRTUAL_ENV='$(CURDIR)/$(VENV)' PATH='$(CURDIR)/$(BIN)':"$$PATH"
BUILD_TOOLS := scikit-build-core pybind11 cmake ninja numpy scipy-openblas32
# A checkout that may not be written into is used as it was built.
READ_ONLY := $(shell [ -w . ] || echo yes)
# Only one ninja runs at a time: two in one build tree would compile everything twice and corrupt the log.
# Without MAKEFLAGS, in which some versions of ninja read that make has two jobs, and would start no more compilers.
NINJA := $(if $(READ_ONLY),true,env -u MAKEFLAGS $(if $(shell command -v flock),flock build/.lock) $(BIN)/ninja)

# What a user has exported for other programs would change what is built, installed or imported here. So the programs of
# a target do not get these variables. A target that wants another build than Debug names the build itself. The doctor
# alone gets all of them, because the doctor reports what they do to a Python that the user starts.
#
# These stay: from where and how pip downloads, and how CMake runs the compiler (ccache, the number of processes).
KEPT := PYTHON PYTHONUNBUFFERED CMAKE_ARGS CMAKE_BUILD_PARALLEL_LEVEL CMAKE_CXX_COMPILER_LAUNCHER \
    $(addprefix PIP_,INDEX_URL EXTRA_INDEX_URL FIND_LINKS NO_INDEX PROXY TRUSTED_HOST CERT CLIENT_CERT CONFIG_FILE \
    KEYRING_PROVIDER CACHE_DIR NO_CACHE_DIR DEFAULT_TIMEOUT TIMEOUT RETRIES NO_INPUT PROGRESS_BAR NO_COLOR \
    DISABLE_PIP_VERSION_CHECK USER) PYTHONUTF8
EXPORTED := $(filter-out $(KEPT),$(filter REFTORCH_BUILD PYTHON% _PYTHON% PIP_% CMAKE_% SKBUILD_% PYTEST_% MYPYPATH \
    CFLAGS CXXFLAGS CPPFLAGS LDFLAGS DESTDIR JUPYTER_PATH JUPYTER_PREFER_ENV_PATH JUPYTERLAB_DIR CDPATH BASH_ENV, \
    $(.VARIABLES)))
unexport $(EXPORTED)
# A pip.conf may ask for it, too; an environment variable overrules the file.
export PIP_USER := 0
# Files are UTF-8 in every locale.
export PYTHONUTF8 := 1

# pip, ccache and JupyterLab write into the home. Where the user's cannot be written, the programs get another one.
HOME_INSTEAD := $(shell [ -w "$$HOME" ] || if [ -w . ]; then mkdir -p build/home && echo "$$PWD/build/home"; else mktemp -d; fi)
ifneq ($(HOME_INSTEAD),)
export HOME := $(HOME_INSTEAD)
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# One step at a time keeps the output in order. `beside` is the exception.
$(if $(BESIDE),,.NOTPARALLEL:)

OFTEN_USED := lab code debug release test lint docs torch doctor clean
# The names of targets, and what the targets do, from the lines of this file.
DESCRIBED := sed -nE 's/^([a-z0-9-]+):.*\#\# /\1\t/p' Makefile
IN_COLUMNS := awk -F'\t' '{printf "  make %-13s %s\n", $$1, $$2}'

.PHONY: help help-all
help: ## the ten targets that people use
	@for name in $(OFTEN_USED) help-all; do $(DESCRIBED) | grep "^$$name	"; done | $(IN_COLUMNS)

help-all: ## every target
	@$(DESCRIBED) | $(IN_COLUMNS)

# --- the environment ------------------------------------------------------------------------------------------------

# A stamp is written only when its step is complete, so an interrupted step runs again. The first stamp is for one place:
# the programs of .venv and the build trees contain the checkout's path, and are made again where the checkout was moved.
MADE_HERE := $(STAMPS)/venv-$(firstword $(shell pwd -P | cksum))
$(shell [ -e $(MADE_HERE) ] || ! ls $(STAMPS)/venv-* >/dev/null 2>&1 || rm -rf $(STAMPS))
$(MADE_HERE):
	@$(ENVIRONMENT) check
	@$(ENVIRONMENT) venv
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build-tools: .ci/constraints.txt pyproject.toml | $(MADE_HERE)
	@echo "reftorch: installing the build tools and numpy"
	@$(ENVIRONMENT) install $(PINS) $(UPGRADE) $(BUILD_TOOLS)
	@touch $@

# The editable install stores the list of modules, so it is renewed when the list has changed.
MODULES := $(firstword $(shell find reftorch course -name '*.py' | LC_ALL=C sort | cksum))
EDITABLE := $(STAMPS)/editable-$(MODULES)
$(EDITABLE): $(STAMPS)/build-tools
	@echo "reftorch: putting this checkout on the path of .venv"
	@$(INSTALL_US) -q --no-deps -e .
	@rm -f $(STAMPS)/editable-* && touch $@

$(STAMPS)/everything: .ci/constraints.txt pyproject.toml | $(EDITABLE)
	@echo "reftorch: installing JupyterLab, the debuggers and the test tools"
	@$(INSTALL_US) $(if $(BESIDE),-q) $(PINS) $(UPGRADE) -e '.[course,test]'
	@$(BIN)/python $(RUN) -m ipykernel install --sys-prefix --name python3 --display-name "Python 3 (reftorch)" >/dev/null
	@$(BIN)/gdb --version >/dev/null 2>&1 || true # the wheel's first start makes a link, and two first starts at once quarrel
	@touch $@

.PHONY: unpinned
unpinned: ## install the newest versions instead of the tested ones, then build
	@rm -f $(STAMPS)/build-tools $(STAMPS)/everything
	@$(MAKE) --no-print-directory PINS= UPGRADE='--upgrade --upgrade-strategy eager' $(STAMPS)/everything debug

# Where nothing is installed yet, pip downloads and installs JupyterLab while the compiler works, which saves the time
# that pip takes. Nothing that is built needs what is installed then.
READY := $(if $(wildcard $(STAMPS)/everything),,beside) debug $(STAMPS)/everything
.PHONY: beside
beside:
	@$(MAKE) --no-print-directory -j2 BESIDE=yes debug $(STAMPS)/everything

# --- the builds ------------------------------------------------------------------------------------------------------

build/%/build.ninja: $(STAMPS)/build-tools
	@$(ENVIRONMENT) check
	@echo "reftorch: configuring build/$*"
	@$(BIN)/cmake --log-level=NOTICE -S cpp -B build/$* -G Ninja -DCMAKE_BUILD_TYPE=$* \
	    -DCMAKE_MAKE_PROGRAM='$(CURDIR)/$(BIN)/ninja' -DPython_EXECUTABLE='$(CURDIR)/$(BIN)/python' $(CMAKE_ARGS)
	@touch $@

.PHONY: debug release
debug: build/Debug/build.ninja $(EDITABLE) ## build the extension to step through (the default one)
	@$(NINJA) -C build/Debug
	@[ -e $(STUBS) ] || $(WRITE_STUBS)

release: build/Release/build.ninja $(EDITABLE) ## build the fast extension beside it: REFTORCH_BUILD=release
	@$(NINJA) -C build/Release

# The stubs, which editors and mypy read instead of the extension. `make debug` writes them only if they are missing, so
# that a build after an edit does not take longer. Targets that need them up to date depend on `stubs`.
STUBS := reftorch/_C/__init__.pyi
WRITE_STUBS = $(if $(READ_ONLY),true,$(BIN)/python $(RUN) .ci/gen_pyi.py reftorch/_C)

.PHONY: stubs
stubs: debug ## write the stubs: what editors and mypy know of the ops
	@$(WRITE_STUBS)

# PYTHON=python3.13 makes the wheel for this interpreter, in an environment of its own.
.PHONY: wheel
wheel: $(STAMPS)/build-tools ## make a wheel of both builds and the sources, and the sdist: build/wheel/dist
	@$(if $(filter command line,$(origin PYTHON)),$(PYTHON),$(BIN)/python) .ci/wheel.py $(ARGS)

# --- the course -------------------------------------------------------------------------------------------------------

ROOT_USER := $(if $(filter 0,$(shell id -u)),--allow-root)

# JupyterLab gets the name of the shell, because it would otherwise start login shells, which remove .venv from the PATH.
SHELL_OF_USER = $(shell echo "$$SHELL")

# Settings of the course's JupyterLab (no question about news, wide code is wrapped) and of its kernels (completion).
# course/_tools/lab_config.py has those of the server.
LAB_SETTINGS := $(VENV)/share/jupyter/lab/settings
KERNEL_SETTINGS := $(VENV)/etc/ipython

.PHONY: lab course book docs
lab: $(READY) stubs ## open the course in JupyterLab (on a server: ARGS=--no-browser)
	@$(if $(READ_ONLY),echo "reftorch: this checkout is read-only: cells run but notebooks cannot be saved here",\
	    mkdir -p $(LAB_SETTINGS) && cp course/_tools/jupyterlab.json $(LAB_SETTINGS)/overrides.json && \
	    mkdir -p $(KERNEL_SETTINGS) && cp course/_tools/ipython_config.py $(KERNEL_SETTINGS))
	@$(IN_VENV) python $(RUN) -m jupyterlab $(ROOT_USER) --config=course/_tools/lab_config.py \
	    --ServerApp.terminado_settings='shell_command=["$(or $(SHELL_OF_USER),/bin/bash)"]' $(ARGS)

course: $(READY) ## bring the notebooks up to date with their sources
	@$(IN_VENV) python $(RUN) -m course._tools build $(ARGS)

# A warning of Sphinx and a link that leads nowhere are errors.
book: debug $(STAMPS)/book ## write the course as a web site, with search, to build/book
	@$(IN_VENV) python $(RUN) -m course._tools book $(ARGS)

# The course is a part of this site. Warnings and dead links are errors here, too.
docs: debug $(STAMPS)/book ## write the whole web site to build/docs: tutorial, course, API, source, table of names
	@$(IN_VENV) python $(RUN) -m course._tools.site build/docs $(ARGS)

$(STAMPS)/book: .ci/constraints.txt pyproject.toml | $(STAMPS)/everything
	@echo "reftorch: installing Sphinx, which makes the web sites"
	@$(INSTALL_US) $(PINS) $(UPGRADE) -e '.[book]'
	@touch $@

# --- PyTorch itself ---------------------------------------------------------------------------------------------------

# Never made but on request: a download of 200 MB, and 1 GB on the disk. It lies apart from .venv, so that reftorch is
# tested as a learner has it. TORCH_INDEX= takes torch from where pip takes everything else.
TORCH_INDEX := https://download.pytorch.org/whl/cpu
.PHONY: torch
torch: .venv-torch/.complete ## install PyTorch 2.13 (CPU) beside reftorch, for the cells of the course that run in it
.venv-torch/.complete:
	@echo "reftorch: installing torch 2.13.0 into .venv-torch; this takes some minutes"
	@$(PYTHON) -m venv .venv-torch
	@.venv-torch/bin/python -m pip install --disable-pip-version-check -q numpy
	@.venv-torch/bin/python -m pip install --disable-pip-version-check -q \
	    $(if $(TORCH_INDEX),--index-url '$(TORCH_INDEX)') torch==2.13.0
	@touch $@

# --- VS Code ----------------------------------------------------------------------------------------------------------

.PHONY: code vsix companion test-adapters test-vscode
code: $(READY) ## open the checkout in VS Code, VSCodium or code-server, with our extension
	@$(IN_VENV) python $(RUN) .ci/editor.py open

vsix: ## pack our extension (both languages in one click, notebooks): build/reftorch-debug-VERSION.vsix
	@$(PYTHON) .ci/editor.py vsix

companion: ## a notebook's cells as a program to debug: NOTEBOOK=course/00_setup/lesson.ipynb
	@$(PYTHON) reftorch/debug/notebook/companion.py '$(NOTEBOOK)'

# Optional, because it needs npm. The packages are installed into build/npm.
test-adapters: ## install the debug adapter that only npm has (Eclipse's), for tests/debug to drive
	@mkdir -p build/npm && cd build/npm && npm install --no-audit --no-fund --ignore-scripts cdt-gdb-adapter@1.7.0

# Optional, because it takes minutes and needs node 20, npm and Chromium. ARGS='meter 04' runs these parts alone.
test-vscode: $(READY) $(STAMPS)/browser ## drive code-server with our extension in Chromium; screenshots in build/screenshots
	@.ci/install_code_server.sh build/vscode
	@$(IN_VENV) python -m tests.vscode $(ARGS) --extension="$$($(PYTHON) .ci/editor.py vsix)"

$(STAMPS)/browser: | $(STAMPS)/everything
	@$(ENVIRONMENT) install -q playwright==1.65.2
	@touch $@

# --- tests --------------------------------------------------------------------------------------------------------------

# In the order of their names: files with few tests, which are often the longest, would otherwise all come last.
PYTEST := $(IN_VENV) python -m pytest --dist loadfile --no-loadscope-reorder
# Three processes keep two processors busy: a test of a debugger or of a notebook waits for a third of its time. Each
# process takes up to 1.3 GB.
WORKERS := 3

.PHONY: test test-browser sanitize tsan parity fuzz fuzz-load
test: $(READY) stubs ## run every test: C++, Python, docstrings, debuggers, lessons, exercises
	@$(NINJA) -C build/Debug reftorch_tests
	@$(PYTEST) -n $(WORKERS) tests reftorch $(ARGS)

# Not a part of `make test`, because it needs root.
.PHONY: fresh-machine
fresh-machine: ## try the README's commands on bare Debian systems (root, mmdebstrap): ARGS='bookworm lab test stop wheel'
	@.ci/fresh_machine.sh $(ARGS)

# Not a part of `make test`, because it needs root and half an hour.
.PHONY: arm64
arm64: ## try both builds in an emulated arm64 Debian (root, mmdebstrap, qemu-user-static): ARGS='lab test release stop'
	@.ci/arm64.sh $(ARGS)

# Not a part of `make test`, because it needs root.
.PHONY: two-nodes
two-nodes: $(READY) ## try training on two machines, which are network namespaces (root, iproute2): ARGS='endpoint cable'
	@.ci/two_nodes.sh $(ARGS)

# Not a part of `make test`, because it takes minutes. `make test` has a short form of each.
.PHONY: proofs
proofs: $(READY) ## kill ranks, open many clients of a store, send it hostile bytes: ARGS='kills 200 clients 10000 hostile 20'
	@$(IN_VENV) python -m tests.distributed.proofs $(ARGS)

REPEATS := 50
.PHONY: test-magics
test-magics: $(READY) ## run a notebook with every magic REPEATS=50 times in a row: no kernel may stay stopped, no gdb be left
	@REFTORCH_REPEATS=$(REPEATS) $(IN_VENV) python -m pytest -n 0 tests/debug/test_magics_notebook.py $(ARGS)

# Not a part of `make test`, because it needs Chromium.
test-browser: stubs $(STAMPS)/book $(STAMPS)/browser ## the course in a real browser; parts of it: ARGS='03 03x book'
	@$(IN_VENV) python -m tests.course.browser $(ARGS)

# Python is not instrumented, so the sanitizers' runtimes are preloaded. Leaks are not reported, because Python has some.
SANITIZER_LIBS = $(foreach lib,asan ubsan stdc++,$(shell $${CXX:-c++} -print-file-name=lib$(lib).so))
SANITIZED = env LD_PRELOAD='$(SANITIZER_LIBS)' ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
    UBSAN_OPTIONS=print_stacktrace=1 REFTORCH_BUILD=sanitize PYTHONMALLOC=malloc
# Left out: tests that start or build other programs (debuggers, notebooks, environments, the walk-through), and the
# examples of the README, which show the default build with its simulated GPU. Forks while other threads allocate are left
# out, too: in the child, the address sanitizer of gcc 12 may wait forever for a lock of its own allocator.
FORKS_WITH_THREADS := $(addprefix --deselect=tests/native/test_parallel.py::, \
    test_a_child_begins_with_one_thread_and_may_ask_for_more test_a_fork_while_other_threads)
sanitize: build/Sanitize/build.ninja $(EDITABLE) $(STAMPS)/everything ## run the tests on an address- and undefined-behaviour-sanitizer build
	@$(NINJA) -C build/Sanitize _C reftorch_tests
	@$(SANITIZED) REFTORCH_COMPARE=0 \
	    $(PYTEST) -n 2 tests $(FORKS_WITH_THREADS) \
	    $(addprefix --ignore=tests/,debug course ci typing test_contributing.py test_readme.py test__source_paths.py) $(ARGS)

# If the thread sanitizer's runtime does not start with random addresses, the program runs without address randomization.
TSAN_LIBS = $(foreach lib,tsan stdc++,$(shell $${CXX:-c++} -print-file-name=lib$(lib).so))
WITH_TSAN = env LD_PRELOAD='$(TSAN_LIBS)' TSAN_OPTIONS='suppressions="$(CURDIR)/.ci/tsan.supp" exitcode=66' \
    REFTORCH_BUILD=tsan PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1
# Each is a part of tests/ with a file threads.py, but for `cpp`, which is the C++ tests.
SCENARIOS = cpp autograd cuda distributed
tsan: build/Tsan/build.ninja $(EDITABLE) $(STAMPS)/everything ## run backward passes, CUDA streams, stores and ranks in several threads at once on a thread-sanitizer build (SCENARIOS=distributed)
	@$(NINJA) -C build/Tsan _C reftorch_tests
	@if $(WITH_TSAN) $(BIN)/python -c pass 2>/dev/null; then fixed=; \
	elif setarch -R $(WITH_TSAN) $(BIN)/python -c pass 2>/dev/null; then fixed='setarch -R'; \
	else echo "reftorch: the thread sanitizer's runtime does not start here, not even with fixed addresses (setarch -R)."; \
	    echo "          As root: sysctl vm.mmap_rnd_bits=28, or let the container use the personality system call."; exit 1; fi; \
	for each in $(SCENARIOS); do \
	    if [ $$each = cpp ]; then $$fixed $(WITH_TSAN) build/Tsan/reftorch_tests --test-case-exclude='cuda sim*' && \
	        REFTORCH_CUDA_SIM=2 $$fixed $(WITH_TSAN) build/Tsan/reftorch_tests --test-case='cuda sim*'; \
	    else REFTORCH_CUDA_SIM=$$([ $$each != cuda ] || echo 2) \
	        $$fixed $(WITH_TSAN) $(BIN)/python -m tests.$$each.threads $(ARGS); fi || exit; done

parity: $(READY) ## compare every op with torch on drawn inputs and print a table (needs torch)
	@$(BIN)/python -m tests.parity.parity $(ARGS)

fuzz: build/Sanitize/build.ninja $(EDITABLE) $(STAMPS)/everything ## call every op on drawn inputs on the sanitizer build: nothing may crash
	@$(NINJA) -C build/Sanitize _C
	@$(SANITIZED) $(BIN)/python -m tests.parity.parity --alone $(ARGS)

.PHONY: watch-kernels
watch-kernels: $(READY) ## run the op table on the simulated device under the watcher of kernels: races, addresses, unwritten memory
	@REFTORCH_CUDA_SIM=$${REFTORCH_CUDA_SIM:-2} $(BIN)/python -m tests.debug.kernels.every_op $(ARGS)

fuzz-load: $(READY) ## load files that were changed at random, for an hour: no crash, no code run, no memory (ARGS='--seconds 60')
	@$(BIN)/python -m tests.serialization.fuzz $(ARGS)

.PHONY: answers
answers: $(READY) ## write torch's answers in the tests to tests/answers, for where torch is missing (ARGS='tests/optim': of these alone)
	@$(BIN)/python -m tests.answers.record $(ARGS)

.PHONY: api
api: $(READY) stubs ## renew the table of PyTorch's public names and what is here: reftorch/_api/names.csv (needs torch)
	@$(BIN)/python -m tests._api.generate

# --- measurements -------------------------------------------------------------------------------------------------------

.PHONY: bench bench-build bench-debug
bench: release $(STAMPS)/everything ## put the Release build beside torch: times, ratios, gates
	@env REFTORCH_BUILD=release $(BIN)/python tests/bench/gates.py $(ARGS)

# The Debug build without the hooks of the call tree, for measuring the cost of the hooks.
build/Unhooked/build.ninja: $(STAMPS)/build-tools
	@$(BIN)/cmake --log-level=NOTICE -S cpp -B build/Unhooked -G Ninja -DCMAKE_BUILD_TYPE=Debug -DUSE_CALL_HOOKS=OFF \
	    -DREFTORCH_LIBRARY_DIR='$(CURDIR)/build/Unhooked/lib/Debug' \
	    -DCMAKE_MAKE_PROGRAM='$(CURDIR)/$(BIN)/ninja' -DPython_EXECUTABLE='$(CURDIR)/$(BIN)/python' $(CMAKE_ARGS)
	@touch $@

bench-debug: debug build/Unhooked/build.ninja $(STAMPS)/everything ## measure the debug tools: hooks that are off, a stop, a call tree
	@$(NINJA) -C build/Unhooked _C
	@$(BIN)/python -m tests.bench.debug_tools

bench-build: $(STAMPS)/build-tools ## measure the build: clean to importable, and after touching one kernel
	@$(BIN)/python tests/bench/build_time.py $(ARGS)

# --- looks and checks ---------------------------------------------------------------------------------------------------

CXX_FILES = $(shell find cpp tests/cpp -path '*/third_party' -prune -o \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print)

.PHONY: lint format doctor clean
# nvcc comes from the wheels nvidia-cuda-nvcc and nvidia-cuda-cccl in their own environment, or from NVCC=...
NVCC ?= $(firstword $(wildcard build/cuda-venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc) nvcc)
# LinearAlgebraKernel.cu needs cuBLAS's headers, which these wheels lack. CUDA_INCLUDE=... names the folder of the headers.
CUDA_CHECKS = $(patsubst cpp/ATen/native/cuda/%.cu,build/cuda-check/%.o,\
    $(filter-out $(if $(CUDA_INCLUDE),,%/LinearAlgebraKernel.cu),$(wildcard cpp/ATen/native/cuda/*.cu)))
# The build writes headers that kernels include, ATen/Functions.h among them.
build/cuda-check/%.o: cpp/ATen/native/cuda/%.cu $(wildcard cpp/ATen/native/cuda/*.cuh cpp/c10/cuda/*.h) | debug
	@mkdir -p $(@D)
	@echo "$<"
	@$(NVCC) -std=c++17 --extended-lambda --expt-relaxed-constexpr -arch=sm_75 -Icpp -Ibuild/Debug/generated $(addprefix -I,$(CUDA_INCLUDE)) -c $< -o $@
.PHONY: cuda-check
cuda-check: $(CUDA_CHECKS) ## compile the CUDA kernels with nvcc, which needs no GPU: NVCC=... names the compiler

lint: $(READY) stubs ## ruff, clang-format, mypy; each C++ file compiles alone
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	@$(BIN)/python -m mypy
	@$(BIN)/python .ci/compile_alone.py

format: $(STAMPS)/everything ## lay out Python and C++ as lint wants it
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(CXX_FILES)

# The user's environment, as it was exported. With `-I` the doctor's own Python takes no notice of the environment.
AS_EXPORTED = $(foreach name,$(filter-out CMAKE_ARGS,$(EXPORTED)),$(name)='$(subst ','\'',$(value $(name)))')
doctor: ## tell the state of compiler, Python, build, gdb, ptrace, symbols, CUDA
	@env $(AS_EXPORTED) $(if $(wildcard $(BIN)/python),$(BIN)/python,$(PYTHON)) -I $(RUN) reftorch/debug/core/doctor.py

clean: ## remove builds and caches (the environment stays: rm -rf .venv)
	@rm -rf build reftorch/lib .pytest_cache .mypy_cache .ruff_cache
	@find reftorch course tests .ci -name __pycache__ -type d -prune -exec rm -rf {} +
