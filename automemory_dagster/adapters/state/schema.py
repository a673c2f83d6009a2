"""Where the tables are, and how their constraints are named."""

from sqlalchemy import MetaData

POSTGRES_SCHEMA = "automemory"
"""Where the tables live on PostgreSQL, beside Dagster's in ``public``."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
    }
)
