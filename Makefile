PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: report test soak lab notebooks clean

# The miniature through every notebook, to a site under outputs/.
report: $(VENV)/installed
	@$(BIN)/python -m kit run params/mini.yaml

# The unit tests, then every notebook against its committed outputs, the longest first; both on all
# processors, and neither touches outputs/.
test: $(VENV)/installed
	@$(BIN)/python -m pytest tests --numprocesses auto --maxprocesses 4 --dist loadfile
	@set -e; export KIT_OUTPUTS="$$(mktemp -d)"; trap 'rm -rf "$$KIT_OUTPUTS"' EXIT; \
	$(BIN)/python -m pytest --nbval --numprocesses auto --maxprocesses 4 --dist loadfile \
	  --no-loadscope-reorder notebooks/70_speed.ipynb notebooks/[0-6][0-9]_*.ipynb

# What takes too long for every change: the whole pipeline stopped sixty times, and the like.
soak: $(VENV)/installed
	@$(BIN)/python -m pytest tests/soak -v

# JupyterLab on the notebooks (which refuses root unless told).
lab: $(VENV)/installed
	@$(BIN)/jupyter lab --notebook-dir=notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

# Executes the committed notebooks anew; look at the difference before you commit it. They are moved
# to their place when all have ended, so that the commit they name is the tree they were made from.
notebooks: $(VENV)/installed
	@set -e; export KIT_OUTPUTS="$$(mktemp -d)"; trap 'rm -rf "$$KIT_OUTPUTS"' EXIT; \
	$(BIN)/jupyter nbconvert --to notebook --execute --output-dir "$$KIT_OUTPUTS/executed" \
	  --ExecutePreprocessor.record_timing=False notebooks/[0-9][0-9]_*.ipynb; \
	mv "$$KIT_OUTPUTS"/executed/*.ipynb notebooks/

clean:
	rm -rf outputs/cache outputs/runs outputs/notebooks outputs/reports outputs/site outputs/figures outputs/logs outputs/published

$(VENV)/installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else \
	  "Python 3.11 or newer is needed, and $(PYTHON) is " + sys.version.split()[0])'
	@echo "installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@
