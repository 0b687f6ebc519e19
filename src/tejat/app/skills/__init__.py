"""Skills in a session: activation, consent, and what the user does with them."""
