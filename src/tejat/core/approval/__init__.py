"""Values of approvals: confirmations, elicitations, modes, policy explanations."""
