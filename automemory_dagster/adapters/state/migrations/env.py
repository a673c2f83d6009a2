"""Alembic's entry: runs the migrations on the connection it is given, inside its transaction."""

from alembic import context

connection = context.config.attributes["connection"]
is_postgres = connection.dialect.name == "postgresql"
context.configure(
    connection=connection,
    version_table_schema="automemory" if is_postgres else None,
    # SQLite can undo schema changes too; Alembic is told so, and tables are rebuilt to be altered.
    transactional_ddl=True,
    render_as_batch=not is_postgres,
)
with context.begin_transaction():
    context.run_migrations()
