"""Mutations that make an edit request inexact."""
