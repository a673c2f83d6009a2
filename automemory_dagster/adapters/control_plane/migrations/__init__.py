"""Alembic migrations of a control plane's tables; see the state store's."""
