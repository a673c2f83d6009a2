"""Calls and reservations to rows and back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from automemory_dagster.adapters.state.row import Values
from automemory_dagster.domain.spend import (
    NO_TOKENS,
    MicroUsd,
    ModelCall,
    Purpose,
    Spent,
    TokenUsage,
    Work,
)
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.ports import SpendTotal

NUMBERS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "requests",
    "micro_usd",
)
"""The columns that are added up."""


def work_values(work: Work) -> Values:
    """The columns that say on whose account."""
    return {
        "purpose": work.purpose.value,
        "space_id": work.space_id,
        "thread_id": work.thread_id or "",
        "user_id": work.user_id,
        "run_id": work.run_id,
    }


def call_values(call_id: str, call: ModelCall) -> Values:
    """All columns of ``spend``."""
    usage = call.usage
    return work_values(call.work) | {
        "call_id": call_id,
        "model": call.model,
        "called_at": call.called_at,
        "prompt_version": call.prompt_version,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "requests": usage.requests,
        "micro_usd": call.micro_usd,
        "is_estimated": call.is_estimated,
    }


def lost_call(row: Any) -> ModelCall:
    """The call of a reservation that nobody settles any more."""
    work = Work(
        purpose=Purpose(row.purpose),
        space_id=row.space_id,
        thread_id=ThreadId(row.thread_id) if row.thread_id else None,
        user_id=row.user_id,
        run_id=row.run_id,
    )
    return ModelCall(
        work=work,
        called_at=row.reserved_at,
        model=row.model,
        prompt_version="",
        usage=replace(NO_TOKENS, requests=1),
        micro_usd=row.micro_usd,
        is_estimated=True,
    )


def total_of(row: Any) -> SpendTotal:
    """The total of a group of rows of ``spend``."""
    numbers = {name: int(getattr(row, name)) for name in NUMBERS}
    amount = MicroUsd(numbers.pop("micro_usd"))
    return SpendTotal(
        day=(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=row.day)).strftime("%Y-%m-%d"),
        model=row.model,
        purpose=Purpose(row.purpose),
        space_id=row.space_id,
        user_id=row.user_id,
        spent=Spent(usage=TokenUsage(**numbers), micro_usd=amount, model=row.model),
        estimated_calls=row.estimated_calls,
    )
