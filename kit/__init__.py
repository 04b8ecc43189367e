"""Measures how well a search system finds the prior art of a patent."""

SUITE_VERSION = "1.1.0"  # semver: see CHANGELOG.md for what each step changes
