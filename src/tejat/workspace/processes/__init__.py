"""Commands: started, watched, ended with all that descends from them, and what they print kept within bounds."""
