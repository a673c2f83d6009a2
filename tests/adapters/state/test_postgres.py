"""What only PostgreSQL has: a server that may be away, roles, collations, locks of rows."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from psycopg2 import sql
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from automemory_dagster.adapters.state import SqlStateStore, open_state_store
from automemory_dagster.adapters.state.statement import lock_threads
from automemory_dagster.domain.errors import StateUnavailable
from tests.adapters.state.builders import NOON, POLICY, a_thread, an_id, claim, claimed
from tests.postgres import PostgresServer


def test_the_tables_live_in_their_own_schema(postgres_store: SqlStateStore) -> None:
    with postgres_store.database.reading() as connection:
        found = connection.execute(
            text(
                "SELECT DISTINCT table_schema FROM information_schema.tables "
                "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
            )
        )
        assert list(found.scalars()) == ["automemory"]


def test_every_key_sorts_by_code_point(postgres_store: SqlStateStore) -> None:
    with postgres_store.database.reading() as connection:
        columns = set(
            connection.execute(
                text(
                    "SELECT table_name || '.' || column_name FROM information_schema.columns "
                    "WHERE table_schema = 'automemory' AND collation_name = 'C'"
                )
            ).scalars()
        )

    assert {"threads.thread_id", "threads.space_id", "jobs.key", "memory_files.path"} <= columns


def test_a_connection_that_the_server_ended_is_replaced(postgres_store: SqlStateStore) -> None:
    postgres_store.save_threads([a_thread()])
    with postgres_store.database.reading() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        )
        connection.execute(text("SELECT 1"))

    assert postgres_store.thread_state(an_id()) is not None


def test_a_connection_lost_in_the_middle_stores_nothing(postgres_url: str) -> None:
    with open_state_store(postgres_url) as store, open_state_store(postgres_url) as killer:

        def dies(connection):  # type: ignore[no-untyped-def]
            pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            connection.execute(text("DELETE FROM automemory.threads"))
            with killer.database.engine.begin() as other:
                other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
            connection.execute(text("SELECT 1"))

        store.save_threads([a_thread()])
        with pytest.raises(StateUnavailable, match="nothing was changed"):
            store.database.write(dies)

        assert store.thread_state(an_id()) is not None


def test_a_lock_that_is_held_too_long_is_unavailable(postgres_url: str) -> None:
    with open_state_store(postgres_url, wait_seconds=0.2) as store:
        claimed(store, a_thread())
        with store.database.engine.begin() as other:
            other.execute(text("SELECT * FROM automemory.jobs FOR UPDATE"))

            with pytest.raises(StateUnavailable, match="lock"):
                claim(store, a_thread(), now=NOON + POLICY.lease)

        claimed(store, a_thread(), now=NOON + POLICY.lease)


def test_a_database_that_is_not_there_is_unavailable(postgres_url: str) -> None:
    url = make_url(postgres_url).set(database="nowhere").render_as_string(hide_password=False)

    with pytest.raises(StateUnavailable, match="nowhere"):
        open_state_store(url)


def test_a_role_without_the_right_to_make_a_schema_is_told_so(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    postgres_server.execute(sql.SQL("DROP ROLE IF EXISTS am_guest"))
    postgres_server.execute(sql.SQL("CREATE ROLE am_guest LOGIN PASSWORD 'am-guest-word'"))
    guest = make_url(postgres_url).set(username="am_guest", password="am-guest-word")
    try:
        with pytest.raises(StateUnavailable, match="permission denied") as caught:
            open_state_store(guest.render_as_string(hide_password=False))
    finally:
        postgres_server.execute(sql.SQL("DROP ROLE am_guest"))

    assert "am-guest-word" not in str(caught.value)


def test_a_role_that_owns_a_ready_made_schema_needs_no_other_right(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    postgres_server.execute(sql.SQL("DROP ROLE IF EXISTS am_owner"))
    postgres_server.execute(sql.SQL("CREATE ROLE am_owner LOGIN"))
    with open_state_store(postgres_url) as store:
        store.database.write(
            lambda connection: connection.execute(
                text(
                    "DROP SCHEMA automemory CASCADE; "
                    "CREATE SCHEMA automemory AUTHORIZATION am_owner"
                )
            )
        )
    owner = make_url(postgres_url).set(username="am_owner")

    with open_state_store(owner.render_as_string(hide_password=False)) as store:
        store.save_threads([a_thread()])
        store.database.write(
            lambda connection: connection.execute(text("DROP SCHEMA automemory CASCADE"))
        )
    postgres_server.execute(sql.SQL("DROP ROLE am_owner"))


def test_two_workers_that_wait_in_a_ring_both_get_through(postgres_store: SqlStateStore) -> None:
    """Nobody should take locks in two orders; if somebody does, it costs time and no work."""
    postgres_store.save_threads([a_thread(1), a_thread(2)])
    barrier = threading.Barrier(2)
    runs: list[int] = []

    def lock_in_order(first: int, second: int) -> None:
        def work(connection: Connection) -> None:
            runs.append(first)
            lock_threads(connection, [an_id(first)])
            if len(runs) <= 2:
                barrier.wait(timeout=10)
            lock_threads(connection, [an_id(second)])

        postgres_store.database.write(work)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lock_in_order, (1, 2), (2, 1)))

    assert len(runs) == 3
