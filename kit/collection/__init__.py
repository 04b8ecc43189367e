"""What is searched, and what counts as relevant."""
