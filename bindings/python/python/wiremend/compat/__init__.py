"""Modules that take the place of other packages, with their functions and their defaults."""
