"""Differential fuzz of rules that deny a program: random lines against bash itself."""
