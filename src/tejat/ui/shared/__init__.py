"""Parts that several user interfaces share."""
