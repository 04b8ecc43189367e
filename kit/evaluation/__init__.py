"""From a run to figures."""
