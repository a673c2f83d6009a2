"""The queries that repeat are served by an index, whatever is in the store: the planners say so."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Select, func, select, text

from automemory_dagster.adapters.state import SqlStateStore, open_state_store, rule
from automemory_dagster.adapters.state.catalogue import due_query
from automemory_dagster.adapters.state.row import JobRow, job_values
from automemory_dagster.adapters.state.statement import upsert
from automemory_dagster.adapters.state.table import extraction_log, jobs, threads
from automemory_dagster.domain.job import JobKind, JobStatus
from tests.adapters.state.builders import NOON, SECOND, SOURCE, SPACE, a_thread, an_entry
from tests.postgres import PostgresServer

COUNT = 10_000


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def full_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SqlStateStore]:
    """10,000 threads with their jobs, all handled but ten."""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        with server.database() as url, open_state_store(url) as store:
            fill(store)
            yield store
    else:
        folder = tmp_path_factory.mktemp("plans")
        with open_state_store(f"sqlite:///{folder}/state.sqlite") as store:
            fill(store)
            yield store


def fill(store: SqlStateStore) -> None:
    many = [a_thread(n, source_updated_at=NOON - n * SECOND) for n in range(COUNT)]
    store.save_threads(many)
    store.record([an_entry(thread) for thread in many])
    done = replace(rule.new_row(JobKind.STAGE1, "", retry_budget=3).job, status=JobStatus.DONE)
    rows = [JobRow(job=replace(done, key=thread.thread_id)) for thread in many]
    schema = "automemory." if store.database.is_postgres else ""
    handled = f"UPDATE {schema}threads SET handled_watermark = source_updated_at "
    handled += "WHERE mtime_ns > 10"

    def work(connection: Connection) -> None:
        upsert(connection, jobs, [job_values(row) for row in rows])
        connection.execute(text(handled))

    store.database.write(work)
    # As the server does by itself from time to time.
    statistics = "VACUUM ANALYZE" if store.database.is_postgres else "ANALYZE"
    with store.database.engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text(statistics))


def plan(store: SqlStateStore, query: Select[Any]) -> str:
    """What the database means to do."""
    statement = str(query.compile(store.database.engine, compile_kwargs={"literal_binds": True}))
    prefix = "EXPLAIN" if store.database.is_postgres else "EXPLAIN QUERY PLAN"
    with store.database.reading() as connection:
        if store.database.is_postgres:
            connection.execute(text("SET LOCAL search_path TO automemory"))
        rows = connection.execute(text(f"{prefix} {statement}".replace(":", "\\:")))
        return "\n".join(str(row[-1]) for row in rows)


def page(source: str | None) -> Select[Any]:
    query = (
        select(threads)
        .where(threads.c.vanished_at.is_(None), threads.c.source_updated_at <= NOON)
        .order_by(threads.c.source_updated_at.desc(), threads.c.thread_id)
        .limit(500)
    )
    return query if source is None else query.where(threads.c.source == source)


def test_possibly_due_reads_the_index_of_unhandled_threads_in_its_order(
    full_store: SqlStateStore,
) -> None:
    found = plan(full_store, due_query(SOURCE, now=NOON, idle_seconds=0, limit=500))

    assert "ix_threads_unhandled" in found
    assert "Sort" not in found
    assert "TEMP B-TREE" not in found
    assert "Seq Scan" not in found
    assert "SCAN" not in found


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (page(None), "ix_threads_by_age"),
        (page(SOURCE), "ix_threads_by_"),
        (
            select(threads.c.thread_id).where(threads.c.rollout_path == "/somewhere"),
            "ix_threads_by_path",
        ),
        (
            select(threads.c.thread_id)
            .where(
                func.lower(threads.c.thread_id) >= "019d0000-0000-7000-8000-0000000007",
                func.lower(threads.c.thread_id) < "019d0000-0000-7000-8000-0000000007\U0010ffff",
            )
            .order_by(func.lower(threads.c.thread_id), threads.c.thread_id)
            .limit(20),
            "ix_threads_by_prefix",
        ),
        (
            select(extraction_log)
            .order_by(extraction_log.c.logged_at.desc(), extraction_log.c.thread_id)
            .limit(100),
            "ix_extraction_log_by_age",
        ),
        (
            select(extraction_log)
            .where(extraction_log.c.space_id == SPACE)
            .order_by(extraction_log.c.logged_at.desc(), extraction_log.c.thread_id)
            .limit(100),
            "ix_extraction_log_by_",
        ),
        (
            select(func.count())
            .select_from(jobs)
            .where(
                text("status = 'running'"),
                jobs.c.kind == JobKind.STAGE1.value,
                jobs.c.lease_until > NOON + timedelta(hours=1),
            ),
            "ix_jobs_running",
        ),
    ],
    ids=["all", "of a source", "by path", "by prefix", "log", "log of a space", "running"],
)
def test_a_query_that_repeats_has_its_index(
    full_store: SqlStateStore, query: Select[Any], index: str
) -> None:
    assert index in plan(full_store, query)
