"""A model consolidates: an agent whose tools act on the staging copy only."""
