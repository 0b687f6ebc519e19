"""Trees that are kept current by what the kernel reports."""
