"""Benchmark of inexact edits: cases generated from real files and real commits."""
