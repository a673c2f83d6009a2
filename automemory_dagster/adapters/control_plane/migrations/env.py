"""Alembic's entry: runs the migrations on the connection it is given, inside its transaction."""

from alembic import context

connection = context.config.attributes["connection"]
is_postgres = connection.dialect.name == "postgresql"
context.configure(
    connection=connection,
    version_table=context.config.attributes["version_table"],
    version_table_schema="automemory" if is_postgres else None,
    transactional_ddl=True,
    render_as_batch=not is_postgres,
)
with context.begin_transaction():
    context.run_migrations()
