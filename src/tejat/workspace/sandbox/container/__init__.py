"""Containers as a sandbox: the client program, the sandbox, and the program that starts each container."""
