"""One module a revision, numbered; a published one never changes."""
