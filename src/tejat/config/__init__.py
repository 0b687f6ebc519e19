"""Where the settings and the rules of a person are kept, and how they are read and saved."""
