"""Measures how well a search system finds the prior art of a patent."""

SUITE_VERSION = "0.1.0"  # semver of the protocol: a changed measure or protocol is a major step
