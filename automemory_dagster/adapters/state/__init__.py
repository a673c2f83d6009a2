"""The state store on SQLite and PostgreSQL: one code, one set of tests, two databases."""

from automemory_dagster.adapters.state.location import normalise_url, store_location_label
from automemory_dagster.adapters.state.store import SqlStateStore, open_state_store

__all__ = ["SqlStateStore", "normalise_url", "open_state_store", "store_location_label"]
