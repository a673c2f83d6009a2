"""The tables of published memory: every version, its files, and what stands in them."""

from sqlalchemy import Column, ForeignKeyConstraint, Index, Integer, Table

from automemory_dagster.adapters.state.column import CleanText, Identifier, JsonObject, Moment
from automemory_dagster.adapters.state.schema import metadata

memory_versions = Table(
    "memory_versions",
    metadata,
    Column("space_id", Identifier, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("published_at", Moment, nullable=False),
    Column("consolidator", CleanText, nullable=False),
    Column("git_commit", CleanText, nullable=False),
    Column("run_id", CleanText, nullable=False),
    Column("inputs", JsonObject, nullable=False),
)

# A file that did not change from version to version is kept once. A space has its own contents, so
# that forgetting in one space never has to look into another.
memory_contents = Table(
    "memory_contents",
    metadata,
    Column("space_id", Identifier, primary_key=True),
    Column("sha256", Identifier, primary_key=True),
    Column("text", CleanText, nullable=False),
)

memory_files = Table(
    "memory_files",
    metadata,
    Column("space_id", Identifier, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("path", Identifier, primary_key=True),
    Column("sha256", Identifier, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "version"], ["memory_versions.space_id", "memory_versions.version"]
    ),
    ForeignKeyConstraint(
        ["space_id", "sha256"], ["memory_contents.space_id", "memory_contents.sha256"]
    ),
)

# Deleting a content that no file names any more.
Index("ix_memory_files_by_content", memory_files.c.space_id, memory_files.c.sha256)
