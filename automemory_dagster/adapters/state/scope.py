"""What a person set for one space or user, and who changed it when."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.statement import upsert
from automemory_dagster.adapters.state.table import scope_changes, scope_settings
from automemory_dagster.domain.spend import Scope
from automemory_dagster.ports import ScopeChange


class SqlScopes:
    """The ``ScopeSettings`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def scope_values(self, scope: Scope, scope_id: str) -> Mapping[str, str]:
        """By name."""
        rows = scope_settings.c
        query = select(rows.name, rows.value).where(
            rows.scope == scope.value, rows.scope_id == scope_id
        )
        with self._database.reading() as connection:
            return {row.name: row.value for row in connection.execute(query.order_by(rows.name))}

    def set_scope_value(
        self, scope: Scope, scope_id: str, name: str, value: str | None, *, who: str, now: datetime
    ) -> None:
        """The value and the note of its change are one transaction."""
        change = ScopeChange(name=name, old=None, new=value, who=who, changed_at=now)
        self._database.write(lambda connection: _set(connection, scope, scope_id, change))

    def scopes_with_values(self) -> Sequence[tuple[Scope, str]]:
        """Those whose values were all taken back are not among them."""
        keys = (scope_settings.c.scope, scope_settings.c.scope_id)
        query = select(*keys).distinct().order_by(*keys)
        with self._database.reading() as connection:
            return [(Scope(row.scope), row.scope_id) for row in connection.execute(query)]

    def scope_changes(
        self, scope: Scope, scope_id: str, *, limit: int = 100
    ) -> Sequence[ScopeChange]:
        """Also of what is not set any more."""
        rows = scope_changes.c
        query = (
            select(scope_changes)
            .where(rows.scope == scope.value, rows.scope_id == scope_id)
            .order_by(rows.changed_at.desc(), rows.change_id)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [
                ScopeChange(
                    name=row.name,
                    old=row.old_value,
                    new=row.new_value,
                    who=row.who,
                    changed_at=row.changed_at,
                )
                for row in connection.execute(query)
            ]


def _set(connection: Connection, scope: Scope, scope_id: str, change: ScopeChange) -> None:
    key = {"scope": scope.value, "scope_id": scope_id, "name": change.name}
    is_this = [scope_settings.c[column] == value for column, value in key.items()]
    old = connection.execute(
        select(scope_settings.c.value).where(*is_this).with_for_update()
    ).scalar_one_or_none()
    if old == change.new:
        return
    by = {"who": change.who, "changed_at": change.changed_at}
    if change.new is None:
        connection.execute(delete(scope_settings).where(*is_this))
    else:
        upsert(connection, scope_settings, [key | {"value": change.new} | by])
    note = key | {"change_id": str(uuid4()), "old_value": old, "new_value": change.new} | by
    connection.execute(insert(scope_changes).values(note))
