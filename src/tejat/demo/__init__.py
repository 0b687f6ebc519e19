"""Data of `tejat demo`: a scripted conversation and its sample project."""
