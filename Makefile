# Every target sets itself up: a fresh machine needs Python >= 3.11 and, for the lab, Go or a wheel of it.
# Of the Pythons at hand the first that was built with its optimizations: a quarter less CPU.
PYTHON ?= $(or $(shell python3 tools/interpreter.py),python3)
# What the machine trusts is trusted, as pip does: a company's own authority stands there.
export UV_SYSTEM_CERTS ?= true
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.stamp

.PHONY: setup check test test-fast soak exam differential life demo bench lock clean
# The same sources as machine code, beside them, where they have changed; five minutes. With PLAIN=1
# in the environment, or without a C compiler, Suture stays plain Python.
setup: $(STAMP)
	$(BIN)/python tools/native.py build

$(STAMP): requirements/dev.txt requirements/build.txt requirements/uv.txt pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r requirements/dev.txt -r requirements/build.txt
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checks beside compiling, which has one core to itself for minutes. Then two workers, each with a
# control plane of its own; the tests of a file stay together.
test: $(STAMP)
	$(MAKE) -j2 check setup
	$(BIN)/pytest -n 2 --dist loadfile

test-fast: setup
	$(BIN)/pytest -n 2 --dist loadfile -m "not lab"

# An hour or more: random histories of the graph, then random writes to real control planes.
SEEDS      ?= 25
FIRST      ?= 1
OPERATIONS ?= 10000
soak: setup
	$(BIN)/pytest --hypothesis-profile=soak -m "not lab" tests/model tests/wire
	$(BIN)/python -m suture.lab.soak --first $(FIRST) --seeds $(SEEDS) --operations $(OPERATIONS)

# Every scenario file, under Suture and under what one has without it; writes docs/exam.md. Only what
# changed runs again. OFFLINE=1: on predicted controllers; SHARD=2/4: a part of it.
SCENARIOS ?= scenarios
SHARD     ?= 1/1
EXAM_PAGE ?= $(if $(filter scenarios,$(SCENARIOS)),docs/exam.md,$(SCENARIOS)/exam.md)
exam: setup
	$(BIN)/python -m suture.lab.exam --scenarios $(SCENARIOS) --shard $(SHARD) --page $(EXAM_PAGE) $(if $(OFFLINE),--offline) $(EXAM)

# Predictions beside what the real controllers then do; CASE=n makes one case of a seed again.
CASES ?= 1000
SEED  ?= 1
differential: setup
	$(BIN)/python -m suture.lab.differential --cases $(CASES) --seed $(SEED) $(if $(CASE),--case $(CASE))

# Ordinary life of a control plane under Suture: whatever is refused was refused wrongly.
MINUTES ?= 60
life: setup
	$(BIN)/python -m suture.lab.life --minutes $(MINUTES) --seed $(SEED)

# Without machine code, which would take longer to make than the demo takes.
demo: $(STAMP)
	$(BIN)/python tools/native.py fresh
	$(BIN)/suture demo

bench: setup
	$(BIN)/suture bench all --scale S

lock: $(STAMP)
	$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header pyproject.toml --group dev -o requirements/dev.txt
	$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header pyproject.toml -o requirements/runtime.txt

clean:
	$(PYTHON) tools/native.py remove
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
