"""What services and local servers offer: models, and whether they accept a key."""
