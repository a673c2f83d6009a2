"""Extraction and consolidation by rules: no model, the same bytes every time."""
