"""The logic of the relevance labels."""
