"""Dagster deployment that turns the records of coding-agent work into memory."""
