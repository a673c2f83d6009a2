"""The tables as the code sees them; ``migrations`` makes them, and a test holds the two together.

Each index serves a query that repeats; the comment above it names the query.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Computed,
    Float,
    Index,
    Integer,
    Table,
    func,
    text,
)

from automemory_dagster.adapters.state.column import (
    CleanText,
    Identifier,
    JsonObject,
    Moment,
    WholeSecond,
)
from automemory_dagster.adapters.state.publication_table import memory_contents as memory_contents
from automemory_dagster.adapters.state.publication_table import memory_files as memory_files
from automemory_dagster.adapters.state.publication_table import memory_versions as memory_versions
from automemory_dagster.adapters.state.schema import POSTGRES_SCHEMA as POSTGRES_SCHEMA
from automemory_dagster.adapters.state.schema import metadata as metadata
from automemory_dagster.adapters.state.spend_table import scope_changes as scope_changes
from automemory_dagster.adapters.state.spend_table import scope_settings as scope_settings
from automemory_dagster.adapters.state.spend_table import spend as spend
from automemory_dagster.adapters.state.spend_table import spend_reservations as spend_reservations

threads = Table(
    "threads",
    metadata,
    Column("thread_id", Identifier, primary_key=True),
    Column("source", Identifier, nullable=False),
    Column("space_id", Identifier, nullable=False),
    Column("rollout_path", Identifier, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("prefix_sha256", CleanText, nullable=False),
    Column("index_digest", CleanText, nullable=False),
    Column("source_updated_at", WholeSecond, nullable=False),
    Column("created_at", Moment),
    Column("cwd", CleanText, nullable=False),
    Column("repository", CleanText, nullable=False),
    Column("branch", CleanText, nullable=False),
    Column("title", CleanText, nullable=False),
    Column("source_kind", CleanText, nullable=False),
    Column("source_detail", CleanText, nullable=False),
    Column("memory_mode", CleanText, nullable=False),
    Column("is_archived", Boolean, nullable=False),
    Column("forked_from", Identifier),
    Column("has_human_request", Boolean, nullable=False),
    Column("problem", CleanText, nullable=False),
    Column("vanished_at", Moment),
    Column("user_id", Identifier, nullable=False, server_default=text("''")),
    Column("goal_key", Identifier, nullable=False, server_default=text("''")),
    # Sources with a schedule: when it is to be looked at; null: not before somebody unparks it.
    Column("look_at", Moment),
    # The stage-1 job's last_success_watermark again: an index cannot look into another table.
    Column("handled_watermark", BigInteger, nullable=False),
    # Threads that extraction may still have to do with. A column, so that PostgreSQL counts them:
    # of the comparison alone it assumes that it holds for every third row.
    Column(
        "is_unhandled",
        Boolean,
        Computed(
            "source_updated_at > handled_watermark AND vanished_at IS NULL AND NOT is_archived "
            "AND memory_mode = 'enabled' AND problem = '' AND has_human_request",
            persisted=True,
        ),
    ),
)

IS_UNHANDLED = "is_unhandled"
"""The same word stands in the partial index and in the query, or else no planner uses the index."""

# possibly_due: holds the unhandled threads only, in the order in which they are asked for.
Index(
    "ix_threads_unhandled",
    threads.c.source,
    threads.c.source_updated_at.desc(),
    threads.c.thread_id,
    sqlite_where=text(IS_UNHANDLED),
    postgresql_where=text(IS_UNHANDLED),
)
IS_WAITING = f"{IS_UNHANDLED} AND look_at IS NOT NULL"
HAS_USER = "user_id <> ''"
IS_UNHANDLED_OF_USER = f"{IS_UNHANDLED} AND {HAS_USER}"

# waiting: the scheduled threads that are not parked, in the order in which their time comes.
Index(
    "ix_threads_waiting",
    threads.c.source,
    threads.c.look_at,
    threads.c.thread_id,
    sqlite_where=text(IS_WAITING),
    postgresql_where=text(IS_WAITING),
)
# unhandled of one user, and unpark.
Index(
    "ix_threads_unhandled_of_user",
    threads.c.user_id,
    threads.c.source_updated_at.desc(),
    threads.c.thread_id,
    sqlite_where=text(IS_UNHANDLED_OF_USER),
    postgresql_where=text(IS_UNHANDLED_OF_USER),
)
# newest_stamp: the cursor of a source that is read in order.
Index(
    "ix_threads_by_stamp",
    threads.c.source,
    threads.c.mtime_ns.desc(),
    threads.c.thread_id.desc(),
    sqlite_where=text(HAS_USER),
    postgresql_where=text(HAS_USER),
)
# thread_states, a page at a time. Not one with the source too: SQLite, which cannot tell how few
# threads are unhandled, would take it for possibly_due and walk through all of them.
Index("ix_threads_by_age", threads.c.source_updated_at.desc(), threads.c.thread_id)
# save_threads: who was known at this path?
Index("ix_threads_by_path", threads.c.rollout_path)
# find_threads: by prefix, ASCII case ignored.
Index("ix_threads_by_prefix", func.lower(threads.c.thread_id), threads.c.thread_id)
# spaces: the distinct ones.
Index("ix_threads_by_space", threads.c.space_id)

jobs = Table(
    "jobs",
    metadata,
    # The key first: a planner without statistics takes one kind for one row, and joins by it alone.
    Column("key", Identifier, primary_key=True),
    Column("kind", Identifier, primary_key=True),
    Column("status", CleanText, nullable=False),
    Column("lease_token", CleanText),
    Column("worker", CleanText, nullable=False),
    Column("run_id", CleanText, nullable=False),
    Column("started_at", Moment),
    Column("finished_at", Moment),
    Column("lease_until", Moment),
    Column("retry_at", Moment),
    Column("retry_remaining", Integer, nullable=False),
    Column("transient_failures", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("last_error", CleanText, nullable=False),
    Column("input_watermark", BigInteger, nullable=False),
    Column("last_success_watermark", BigInteger, nullable=False),
    # What release gives back; only while the job runs.
    Column("before_claim", JsonObject),
    # Consolidation only: when the cooldown began, and the watermark of the last forgetting.
    Column("last_success_at", Moment),
    Column("forget_watermark", BigInteger, nullable=False),
)

IS_RUNNING = "status = 'running'"

# claim_stage1: how many leases are live? Holds the running jobs only.
Index(
    "ix_jobs_running",
    jobs.c.kind,
    jobs.c.lease_until,
    sqlite_where=text(IS_RUNNING),
    postgresql_where=text(IS_RUNNING),
)

stage1_outputs = Table(
    "stage1_outputs",
    metadata,
    Column("thread_id", Identifier, primary_key=True),
    Column("space_id", Identifier, nullable=False),
    Column("source_updated_at", WholeSecond, nullable=False),
    Column("raw_memory", CleanText, nullable=False),
    Column("rollout_summary", CleanText, nullable=False),
    Column("rollout_slug", CleanText),
    Column("generated_at", Moment, nullable=False),
    Column("extractor", CleanText, nullable=False),
    Column("usage_count", Integer, nullable=False),
    Column("last_usage", Moment),
    # Unix seconds of the version that the last successful consolidation used; null: it did not.
    Column("selected_version", BigInteger),
)

# selectable_outputs and spaces.
Index("ix_stage1_outputs_by_space", stage1_outputs.c.space_id, stage1_outputs.c.thread_id)

extraction_log = Table(
    "extraction_log",
    metadata,
    Column("thread_id", Identifier, primary_key=True),
    Column("space_id", Identifier, nullable=False),
    Column("outcome", CleanText, nullable=False),
    Column("reason", CleanText, nullable=False),
    Column("logged_at", Moment, nullable=False),
    Column("source_updated_at", WholeSecond),
    Column("user_id", Identifier, nullable=False, server_default=text("''")),
    Column("run_id", CleanText, nullable=False),
    Column("detail", CleanText, nullable=False),
    Column("extractor", CleanText, nullable=False),
    Column("duration_seconds", Float, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("usd", Float, nullable=False),
    Column("numbers", JsonObject, nullable=False),
)

# log: newest first, of all spaces or of one.
Index("ix_extraction_log_by_age", extraction_log.c.logged_at.desc(), extraction_log.c.thread_id)
Index(
    "ix_extraction_log_by_space",
    extraction_log.c.space_id,
    extraction_log.c.logged_at.desc(),
    extraction_log.c.thread_id,
)

# log of one user.
Index(
    "ix_extraction_log_by_user",
    extraction_log.c.user_id,
    extraction_log.c.logged_at.desc(),
    extraction_log.c.thread_id,
    sqlite_where=text(HAS_USER),
    postgresql_where=text(HAS_USER),
)
