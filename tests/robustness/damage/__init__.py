"""The corpus of damaged inputs: a module a door, each with a table of `Damage`, and of `Accepted` where
the decision is to take what looks odd. Everything is made anew from code, so that it can be read."""
