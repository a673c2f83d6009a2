"""The state store on SQLite and PostgreSQL."""
