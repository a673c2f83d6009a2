"""The exam of every ``ScopeSettings``: set, taken back, and who did."""

from automemory_dagster.domain.spend import Scope
from automemory_dagster.ports import ScopeChange, StateStore
from tests.adapters.state.builders import HOUR, NOON


def put(
    store: StateStore, value: str | None, *, name: str = "max_usd_per_day", hour: int = 0
) -> None:
    moment = NOON + hour * HOUR
    store.set_scope_value(Scope.SPACE, "codex:a", name, value, who="ann", now=moment)


def test_nothing_is_set_at_first(state_store: StateStore) -> None:
    assert dict(state_store.scope_values(Scope.SPACE, "codex:a")) == {}
    assert list(state_store.scopes_with_values()) == []


def test_a_value_is_read_where_it_was_set_and_nowhere_else(state_store: StateStore) -> None:
    put(state_store, "2.50")

    assert dict(state_store.scope_values(Scope.SPACE, "codex:a")) == {"max_usd_per_day": "2.50"}
    assert dict(state_store.scope_values(Scope.USER, "codex:a")) == {}
    assert dict(state_store.scope_values(Scope.SPACE, "codex:b")) == {}


def test_the_last_value_counts(state_store: StateStore) -> None:
    put(state_store, "1")
    put(state_store, "2", hour=1)

    assert dict(state_store.scope_values(Scope.SPACE, "codex:a")) == {"max_usd_per_day": "2"}


def test_what_is_taken_back_is_gone(state_store: StateStore) -> None:
    put(state_store, "1")
    put(state_store, None, hour=1)

    assert dict(state_store.scope_values(Scope.SPACE, "codex:a")) == {}
    assert list(state_store.scopes_with_values()) == []


def test_scopes_are_told_in_order(state_store: StateStore) -> None:
    for scope, scope_id in ((Scope.USER, "ann"), (Scope.SPACE, "b"), (Scope.SPACE, "a")):
        state_store.set_scope_value(scope, scope_id, "extract_model", "p:m", who="", now=NOON)

    found = list(state_store.scopes_with_values())

    assert found == [(Scope.SPACE, "a"), (Scope.SPACE, "b"), (Scope.USER, "ann")]


def test_every_change_is_noted_newest_first_and_no_change_is_not(state_store: StateStore) -> None:
    put(state_store, None)
    put(state_store, "1", hour=1)
    put(state_store, "1", hour=2)
    put(state_store, "2", hour=3)
    put(state_store, None, hour=4)

    def change(old: str | None, new: str | None, hour: int) -> ScopeChange:
        return ScopeChange(
            name="max_usd_per_day", old=old, new=new, who="ann", changed_at=NOON + hour * HOUR
        )

    changes = list(state_store.scope_changes(Scope.SPACE, "codex:a"))
    assert changes == [change("2", None, 4), change("1", "2", 3), change(None, "1", 1)]
    assert list(state_store.scope_changes(Scope.SPACE, "codex:a", limit=1)) == changes[:1]
    assert list(state_store.scope_changes(Scope.USER, "codex:a")) == []
