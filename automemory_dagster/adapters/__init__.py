"""How the world does it: databases, files, git, secrets, extractors."""
