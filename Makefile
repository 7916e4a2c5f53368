# Targets make their own virtual environment (VENV) from PYTHON and need a C compiler besides; nothing is installed elsewhere.
#   demo     build, run the script of examples/issue.py, print its ten draws
#   test     build and run the tests              asan    the tests under the address and undefined behaviour sanitizers
#   lint     build with warnings as errors        tsan-c  the plain C test program under the thread sanitizer
#   bench    nanoseconds a step of the workloads  wheel   sdist and wheel into dist/
#   bench-peers   installs what bench compares with (Numba, PyTensor, JAX, Aesara), each into an environment in build/peers
#   bench-long    10^9 steps of which only the last is read
#   bench-random  nanoseconds a draw, against NumPy's own fills
#   fuzz     two thousand generated scans against the plain twin
#   test-numpy  one wheel for each Python at hand, tested under the oldest and the newest NumPy that pip installs there
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
ARGS ?=

CORE_SOURCES := $(wildcard csrc/*/*.c csrc/*/*.h csrc/*/*.def csrc/*/*.inc)
# The requirements are listed in pyproject.toml alone; this prints those of the build and of the extras named.
NEEDS = $(PY) -c "import sys, tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
e = p['project']['optional-dependencies']; print(*p['build-system']['requires'], *(r for x in sys.argv[1:] for r in e[x]), sep='\n')"

.PHONY: demo test test-numpy fuzz asan lint tsan-c bench bench-peers bench-long bench-random wheel clean
.DELETE_ON_ERROR:

demo: build/core.stamp
	$(PY) -m pyscan examples/demo.py

test: build/core.stamp $(VENV)/test.stamp
	PYTHONPATH=. $(VENV)/bin/pytest $(ARGS)

test-numpy: $(VENV)/build.stamp
	$(PY) tests/every_numpy/run.py $(ARGS)

fuzz: build/core.stamp $(VENV)/test.stamp
	PYSCAN_FUZZ=2000 PYTHONPATH=. $(VENV)/bin/pytest tests/fuzz $(ARGS)

bench: build/core.stamp
	PYTHONPATH=. $(PY) tests/bench/bench.py $(ARGS)

bench-peers: $(VENV)/build.stamp
	$(PY) tests/bench/peers/install.py $(ARGS)

bench-long: build/core.stamp
	PYTHONPATH=. $(PY) tests/bench/bench.py --long

bench-random: build/core.stamp
	PYTHONPATH=. $(PY) tests/bench/bench_random.py $(ARGS)

$(VENV)/build.stamp: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(NEEDS) > $(VENV)/build.txt
	$(PY) -m pip install --quiet -r $(VENV)/build.txt
	touch $@

$(VENV)/test.stamp: $(VENV)/build.stamp
	$(NEEDS) test > $(VENV)/test.txt
	$(PY) -m pip install --quiet -r $(VENV)/test.txt
	touch $@

build/core.stamp: $(CORE_SOURCES) setup.py $(VENV)/build.stamp
	$(PY) setup.py --quiet build_ext --inplace
	mkdir -p build && touch $@

# A second build, beside the first: the package and its module in build/asan/lib. Python's own allocator would hide errors
# from the sanitizer, hence PYTHONMALLOC; Python itself leaks at exit, hence detect_leaks=0 (the suite counts leaks itself).
build/asan.stamp: $(CORE_SOURCES) setup.py $(VENV)/build.stamp
	PYSCAN_SANITIZE=address,undefined PYSCAN_TEST_BUILD=1 $(PY) setup.py --quiet build --build-temp build/asan/tmp --build-lib build/asan/lib
	touch $@

CC_LIB = $(shell $(CC) -print-file-name=$(1))
asan: build/asan.stamp $(VENV)/test.stamp
	rm -rf build/asan/lib/pyscan/__pycache__ && cp -r pyscan/*.py pyscan/tensor build/asan/lib/pyscan/
	LD_PRELOAD="$(call CC_LIB,libasan.so) $(call CC_LIB,libubsan.so)" PYTHONMALLOC=malloc PYSCAN_SANITIZED=1 \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	PYTHONPATH=build/asan/lib $(VENV)/bin/pytest -p no:cacheprovider $(ARGS)

lint: $(VENV)/build.stamp
	PYSCAN_WERROR=1 $(PY) setup.py --quiet build --force --build-temp build/lint/tmp --build-lib build/lint/lib

tsan-c:
	SANITIZE=thread sh tests/c/build.sh build/tsan-c
	build/tsan-c

wheel: $(VENV)/build.stamp
	$(PY) -m pip install --quiet build
	$(PY) -m build --outdir dist

clean:
	rm -rf build dist $(VENV) *.egg-info pyscan/*.so
