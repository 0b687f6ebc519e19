"""Gemini models, on the Gemini API and on Vertex AI."""
