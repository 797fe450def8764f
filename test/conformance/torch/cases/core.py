"""Operators of the core set by their own overloads, where the functions above do not reach them."""
