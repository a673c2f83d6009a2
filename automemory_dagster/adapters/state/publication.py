"""Published memory: every version with its files, and how far each space is."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from sqlalchemy import Connection, and_, bindparam, func, insert, select, union, update

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.row import JobRow, Values, job_row_of
from automemory_dagster.adapters.state.statement import chunks, insert_new
from automemory_dagster.adapters.state.table import (
    jobs,
    memory_contents,
    memory_files,
    memory_versions,
    stage1_outputs,
    threads,
)
from automemory_dagster.adapters.state.text import clean_text
from automemory_dagster.domain.errors import PermanentError
from automemory_dagster.domain.job import JobKind
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import SpaceId, ThreadId
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.ports import SpaceState


class SqlPublications:
    """The published memory's part of the ``OutputStore`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def spaces(self) -> Sequence[SpaceState]:
        """Five small queries, whatever the number of spaces."""
        with self._database.reading() as connection:
            known = connection.execute(
                union(
                    select(threads.c.space_id),
                    select(stage1_outputs.c.space_id),
                    select(memory_versions.c.space_id),
                )
            ).scalars()
            return _states(connection, sorted(known))

    def space(self, space_id: SpaceId) -> SpaceState:
        """Three small queries."""
        with self._database.reading() as connection:
            return _states(connection, [space_id])[0]

    def publication(self, space_id: SpaceId, version: int | None = None) -> Publication | None:
        """Its files are read in one query."""
        query = select(memory_versions).where(memory_versions.c.space_id == space_id)
        if version is None:
            query = query.order_by(memory_versions.c.version.desc()).limit(1)
        else:
            query = query.where(memory_versions.c.version == version)
        with self._database.reading() as connection:
            found = connection.execute(query).one_or_none()
            if found is None:
                return None
            return Publication(
                space_id=found.space_id,
                version=found.version,
                published_at=found.published_at,
                files=_files(connection, space_id, found.version),
                consolidator=found.consolidator,
                commit=found.git_commit,
                run_id=found.run_id,
                inputs=found.inputs,
            )


def publish(connection: Connection, publication: Publication, *, space_id: str) -> None:
    """Store a version, under the lock of its space's job.

    Raises:
        PermanentError: it is another space's, or does not follow the newest version.
    """
    newest = connection.execute(
        select(func.coalesce(func.max(memory_versions.c.version), 0)).where(
            memory_versions.c.space_id == space_id
        )
    ).scalar_one()
    if publication.space_id != space_id or publication.version != newest + 1:
        raise PermanentError(
            f"Version {publication.version} of {publication.space_id} does not follow version "
            f"{newest} of {space_id}; nothing was published."
        )
    connection.execute(
        insert(memory_versions).values(
            space_id=space_id,
            version=publication.version,
            published_at=publication.published_at,
            consolidator=publication.consolidator,
            git_commit=publication.commit,
            run_id=publication.run_id,
            inputs=publication.inputs,
        )
    )
    contents: dict[str, Values] = {}
    files: list[Values] = []
    for path, text in publication.files.items():
        clean = clean_text(text)
        digest = sha256(clean.encode()).hexdigest()
        contents[digest] = {"space_id": space_id, "sha256": digest, "text": clean}
        files.append(
            {
                "space_id": space_id,
                "version": publication.version,
                "path": path,
                "sha256": digest,
            }
        )
    if files:
        insert_new(connection, memory_contents, list(contents.values()))
        connection.execute(insert(memory_files), files)


def flag_selected(connection: Connection, space_id: str, selected: Mapping[ThreadId, int]) -> None:
    """Mark the exact outputs that were used; all other marks of the space go."""
    flag = stage1_outputs.c.selected_version
    connection.execute(
        update(stage1_outputs)
        .where(stage1_outputs.c.space_id == space_id, flag.is_not(None))
        .values(selected_version=None)
    )
    if selected:
        connection.execute(
            update(stage1_outputs)
            .where(
                stage1_outputs.c.thread_id == bindparam("used"),
                stage1_outputs.c.space_id == space_id,
            )
            .values(selected_version=bindparam("seconds")),
            [{"used": key, "seconds": seconds} for key, seconds in sorted(selected.items())],
        )


def _files(connection: Connection, space_id: str, version: int) -> dict[str, RedactedText]:
    query = (
        select(memory_files.c.path, memory_contents.c.text)
        .join_from(
            memory_files,
            memory_contents,
            and_(
                memory_files.c.space_id == memory_contents.c.space_id,
                memory_files.c.sha256 == memory_contents.c.sha256,
            ),
        )
        .where(memory_files.c.space_id == space_id, memory_files.c.version == version)
        .order_by(memory_files.c.path)
    )
    return {row.path: row.text for row in connection.execute(query)}


def _states(connection: Connection, space_ids: Sequence[SpaceId]) -> list[SpaceState]:
    states: list[SpaceState] = []
    for chunk in chunks(space_ids):
        rows = _jobs(connection, chunk)
        versions = _newest_versions(connection, chunk)
        counts = _output_counts(connection, chunk)
        states += [
            _state(space_id, rows.get(space_id), versions.get(space_id), counts.get(space_id, 0))
            for space_id in chunk
        ]
    return states


def _state(
    space_id: SpaceId, row: JobRow | None, newest: tuple[int, datetime] | None, outputs: int
) -> SpaceState:
    return SpaceState(
        space_id=space_id,
        job=row.job if row else None,
        version=newest[0] if newest else 0,
        published_at=newest[1] if newest else None,
        output_count=outputs,
        is_forgetting=row is not None and row.forget_watermark > row.job.last_success_watermark,
    )


def _jobs(connection: Connection, space_ids: Sequence[SpaceId]) -> dict[str, JobRow]:
    query = select(jobs).where(jobs.c.kind == JobKind.CONSOLIDATE.value, jobs.c.key.in_(space_ids))
    return {row.key: job_row_of(row) for row in connection.execute(query)}


def _newest_versions(
    connection: Connection, space_ids: Sequence[SpaceId]
) -> dict[str, tuple[int, datetime]]:
    version, space = memory_versions.c.version, memory_versions.c.space_id
    newest = (
        select(space, func.max(version).label("version"))
        .where(space.in_(space_ids))
        .group_by(space)
        .subquery()
    )
    query = select(space, version, memory_versions.c.published_at).join(
        newest, and_(newest.c.space_id == space, newest.c.version == version)
    )
    return {row.space_id: (row.version, row.published_at) for row in connection.execute(query)}


def _output_counts(connection: Connection, space_ids: Sequence[SpaceId]) -> dict[str, int]:
    space = stage1_outputs.c.space_id
    query = select(space, func.count().label("stored")).where(space.in_(space_ids)).group_by(space)
    return {row.space_id: row.stored for row in connection.execute(query)}
