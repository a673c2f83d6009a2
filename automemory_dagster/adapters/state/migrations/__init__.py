"""Alembic migrations, run by ``migration.migrate``; there is no ``alembic.ini``."""
