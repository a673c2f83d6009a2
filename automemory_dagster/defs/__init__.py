"""Dagster as a thin shell: translate in, call the pipeline, translate out."""
