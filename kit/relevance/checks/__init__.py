"""The audit's checks, a module a group."""
