"""Measures how well a search system finds the prior art of a patent."""

import os

# Read when the libraries are loaded. A thread that waits for its next task shall sleep: on few
# processors one that spins takes half of the time of the other library's loops.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

SUITE_VERSION = "1.2.0"  # semver: see CHANGELOG.md for what each step changes
