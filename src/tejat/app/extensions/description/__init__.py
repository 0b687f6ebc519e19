"""What an extension brings: its contents, what it runs and tells the model, its changes and its effect."""
