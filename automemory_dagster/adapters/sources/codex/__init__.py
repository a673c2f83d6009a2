"""Codex homes: listing threads, and reading one rollout as a bounded stream."""
