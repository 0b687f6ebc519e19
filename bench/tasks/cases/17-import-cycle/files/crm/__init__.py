"""A little CRM. `import crm` imports nothing else."""
