"""Answers clients of the OpenAI API: chat completions, responses, models, sound."""
