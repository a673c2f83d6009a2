"""The first tables: threads, jobs, outputs, log, published memory, spend.

Written out on its own, without the package's table module: a migration must still do in a year
what it did when it was published.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _threads()
    _jobs()
    _outputs_and_log()
    _published_memory()
    _spend()


def _key(name: str, *, nullable: bool = True) -> sa.Column:  # type: ignore[type-arg]
    return sa.Column(
        name, sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=nullable
    )


def _text(name: str) -> sa.Column:  # type: ignore[type-arg]
    return sa.Column(name, sa.Text(), nullable=False)


def _number(name: str) -> sa.Column:  # type: ignore[type-arg]
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _moment(name: str, *, nullable: bool = True) -> sa.Column:  # type: ignore[type-arg]
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def _flag(name: str) -> sa.Column:  # type: ignore[type-arg]
    return sa.Column(name, sa.Boolean(), nullable=False)


def _threads() -> None:
    op.create_table(
        "threads",
        _key("thread_id", nullable=False),
        _key("source", nullable=False),
        _key("space_id", nullable=False),
        _key("rollout_path", nullable=False),
        _number("size_bytes"),
        _number("mtime_ns"),
        _text("prefix_sha256"),
        _text("index_digest"),
        _number("source_updated_at"),
        _moment("created_at"),
        _text("cwd"),
        _text("repository"),
        _text("branch"),
        _text("title"),
        _text("source_kind"),
        _text("source_detail"),
        _text("memory_mode"),
        _flag("is_archived"),
        _key("forked_from"),
        _flag("has_human_request"),
        _text("problem"),
        _moment("vanished_at"),
        _number("handled_watermark"),
        sa.Column(
            "is_unhandled",
            sa.Boolean(),
            sa.Computed(
                "source_updated_at > handled_watermark AND vanished_at IS NULL AND NOT is_archived "
                "AND memory_mode = 'enabled' AND problem = '' AND has_human_request",
                persisted=True,
            ),
        ),
        sa.PrimaryKeyConstraint("thread_id", name="pk_threads"),
    )
    newest = sa.text("source_updated_at DESC")
    unhandled = sa.text("is_unhandled")
    op.create_index(
        "ix_threads_unhandled",
        "threads",
        ["source", newest, "thread_id"],
        sqlite_where=unhandled,
        postgresql_where=unhandled,
    )
    op.create_index("ix_threads_by_age", "threads", [newest, "thread_id"])
    op.create_index("ix_threads_by_path", "threads", ["rollout_path"])
    op.create_index("ix_threads_by_prefix", "threads", [sa.text("lower(thread_id)"), "thread_id"])
    op.create_index("ix_threads_by_space", "threads", ["space_id"])


def _jobs() -> None:
    op.create_table(
        "jobs",
        _key("key", nullable=False),
        _key("kind", nullable=False),
        _text("status"),
        sa.Column("lease_token", sa.Text()),
        _text("worker"),
        _text("run_id"),
        _moment("started_at"),
        _moment("finished_at"),
        _moment("lease_until"),
        _moment("retry_at"),
        sa.Column("retry_remaining", sa.Integer(), nullable=False),
        sa.Column("transient_failures", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        _text("last_error"),
        _number("input_watermark"),
        _number("last_success_watermark"),
        sa.Column("before_claim", sa.Text()),
        _moment("last_success_at"),
        _number("forget_watermark"),
        sa.PrimaryKeyConstraint("key", "kind", name="pk_jobs"),
    )
    running = sa.text("status = 'running'")
    op.create_index(
        "ix_jobs_running",
        "jobs",
        ["kind", "lease_until"],
        sqlite_where=running,
        postgresql_where=running,
    )


def _outputs_and_log() -> None:
    op.create_table(
        "stage1_outputs",
        _key("thread_id", nullable=False),
        _key("space_id", nullable=False),
        _number("source_updated_at"),
        _text("raw_memory"),
        _text("rollout_summary"),
        sa.Column("rollout_slug", sa.Text()),
        _moment("generated_at", nullable=False),
        _text("extractor"),
        sa.Column("usage_count", sa.Integer(), nullable=False),
        _moment("last_usage"),
        sa.Column("selected_version", sa.BigInteger()),
        sa.PrimaryKeyConstraint("thread_id", name="pk_stage1_outputs"),
    )
    op.create_index("ix_stage1_outputs_by_space", "stage1_outputs", ["space_id", "thread_id"])
    op.create_table(
        "extraction_log",
        _key("thread_id", nullable=False),
        _key("space_id", nullable=False),
        _text("outcome"),
        _text("reason"),
        _moment("logged_at", nullable=False),
        sa.Column("source_updated_at", sa.BigInteger()),
        _text("run_id"),
        _text("detail"),
        _text("extractor"),
        sa.Column("duration_seconds", sa.Float(), nullable=False),
        _number("input_tokens"),
        _number("output_tokens"),
        sa.Column("usd", sa.Float(), nullable=False),
        _text("numbers"),
        sa.PrimaryKeyConstraint("thread_id", name="pk_extraction_log"),
    )
    newest = sa.text("logged_at DESC")
    op.create_index("ix_extraction_log_by_age", "extraction_log", [newest, "thread_id"])
    op.create_index(
        "ix_extraction_log_by_space", "extraction_log", ["space_id", newest, "thread_id"]
    )


def _published_memory() -> None:
    op.create_table(
        "memory_versions",
        _key("space_id", nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        _moment("published_at", nullable=False),
        _text("consolidator"),
        _text("git_commit"),
        _text("run_id"),
        _text("inputs"),
        sa.PrimaryKeyConstraint("space_id", "version", name="pk_memory_versions"),
    )
    op.create_table(
        "memory_contents",
        _key("space_id", nullable=False),
        _key("sha256", nullable=False),
        _text("text"),
        sa.PrimaryKeyConstraint("space_id", "sha256", name="pk_memory_contents"),
    )
    op.create_table(
        "memory_files",
        _key("space_id", nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        _key("path", nullable=False),
        _key("sha256", nullable=False),
        sa.PrimaryKeyConstraint("space_id", "version", "path", name="pk_memory_files"),
        sa.ForeignKeyConstraint(
            ["space_id", "version"],
            ["memory_versions.space_id", "memory_versions.version"],
            name="fk_memory_files_memory_versions",
        ),
        sa.ForeignKeyConstraint(
            ["space_id", "sha256"],
            ["memory_contents.space_id", "memory_contents.sha256"],
            name="fk_memory_files_memory_contents",
        ),
    )
    op.create_index("ix_memory_files_by_content", "memory_files", ["space_id", "sha256"])


def _spend() -> None:
    op.create_table(
        "spend",
        _key("thread_id", nullable=False),
        _key("run_id", nullable=False),
        _moment("spent_at", nullable=False),
        _key("space_id", nullable=False),
        _text("extractor"),
        _number("input_tokens"),
        _number("output_tokens"),
        sa.Column("usd", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "run_id", "spent_at", name="pk_spend"),
    )
    op.create_index("ix_spend_by_age", "spend", ["spent_at"])
