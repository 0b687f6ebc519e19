"""Shell completion: scripts for bash, zsh and fish, and the values that they ask for."""
