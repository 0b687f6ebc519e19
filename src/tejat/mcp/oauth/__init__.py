"""Oauth."""
