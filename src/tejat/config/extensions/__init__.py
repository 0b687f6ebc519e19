"""Extensions of Gemini CLI: what is installed, what was agreed to, and what is used."""
