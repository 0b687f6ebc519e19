"""File access shared by the file tools."""
