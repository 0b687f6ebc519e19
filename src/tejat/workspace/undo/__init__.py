"""What files were before a call: seen quickly, kept outside the project, compared, put back."""
