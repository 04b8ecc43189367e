"""Raw sources -> frozen query sets."""
