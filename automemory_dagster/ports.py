"""What the phases ask of the world, as Protocols.

Adapters implement them; tests fake them; the contracts are here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from automemory_dagster.domain.eligibility import Ruling
from automemory_dagster.domain.job import (
    Claimed,
    FailureKind,
    Job,
    JobKind,
    LeasePolicy,
    Phase2ClaimOutcome,
    Stage1ClaimOutcome,
)
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.rollout import Reading
from automemory_dagster.domain.spend import (
    NOTHING_SPENT,
    LimitReached,
    MicroUsd,
    ModelCall,
    Purpose,
    Reserved,
    Scope,
    SpendLimit,
    Spent,
    TokenUsage,
    Work,
)
from automemory_dagster.domain.stage1 import Extraction, SelectedOutput, Stage1Output
from automemory_dagster.domain.thread import RolloutStamp, SourceKind, SpaceId, Thread, ThreadId
from automemory_dagster.domain.transcript import Transcript
from automemory_dagster.domain.workspace import Publication, WorkspaceDiff

Clock = Callable[[], datetime]
"""The present moment, UTC and aware."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRollout:
    """What the catalogue remembers of a rollout file, to tell whether it changed."""

    thread_id: ThreadId
    stamp: RolloutStamp


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A rollout file that is new or differs from what is known, as ``stat`` tells."""

    path: str
    size_bytes: int
    mtime_ns: int
    index_digest: str = ""
    """What the source's index says of it; see ``RolloutStamp.index_digest``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueChanges:
    """What a look at a source found against what was known."""

    changed: Iterator[Thread]
    """New, grown, rewritten or moved threads; read lazily, one file at a time; never raises for one
    bad file."""

    changed_files: tuple[ChangedFile, ...]
    """The files behind ``changed``, without opening them: what a sensor asks before it pays for a
    run."""

    vanished: tuple[ThreadId, ...]
    """Known threads none of whose files is there any more."""

    listed_count: int
    """Rollout files seen."""

    problems: tuple[str, ...] = ()
    """Folders that could not be listed and the like, one sentence each; nothing in them
    vanished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadState:
    """A thread with its stage-1 job, as one query reads them."""

    thread: Thread
    job: Job | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceState:
    """How far the consolidation of one space is."""

    space_id: SpaceId
    job: Job | None
    version: int
    """The newest published one; 0 when there is none."""

    published_at: datetime | None
    output_count: int
    """Stage-1 outputs stored."""
    is_forgetting: bool = False
    """An output was taken away since the last successful consolidation: no cooldown delays it."""

    @property
    def has_pending_changes(self) -> bool:
        """True when an output was added, changed or taken away since the last successful
        consolidation."""
        return self.job is not None and self.job.input_watermark > self.job.last_success_watermark


class ThreadCatalogue(Protocol):
    """Every thread ever seen."""

    def known_rollouts(self, source: str) -> Mapping[str, KnownRollout]:
        """All known rollouts of a source by path."""

    def save_threads(self, threads: Sequence[Thread], *, look_at: datetime | None = None) -> None:
        """Insert or overwrite, in one transaction.

        Idempotent. A thread that moved to a new path loses the old one. ``look_at``: when a source
        with a schedule looks at them; None for other sources.
        """

    def mark_vanished(self, thread_ids: Collection[ThreadId], *, now: datetime) -> None:
        """Their files are gone: they are no candidates any more; what was extracted from them
        stays."""

    def thread_state(self, thread_id: ThreadId) -> ThreadState | None:
        """One thread, or None when it was never seen."""

    def find_threads(self, prefix: str) -> Sequence[ThreadId]:
        """At most 20 thread ids that start with ``prefix`` (ASCII case ignored), ascending."""

    def thread_states(
        self, *, source: str | None = None, thread_ids: Collection[ThreadId] | None = None
    ) -> Iterator[ThreadState]:
        """All threads that are still there, newest ``source_updated_at`` first, then by id; read in
        pages."""

    def possibly_due(
        self,
        source: str,
        *,
        now: datetime,
        idle_seconds: int,
        limit: int,
        admitted_kinds: Collection[SourceKind] | None = None,
    ) -> Sequence[ThreadState]:
        """Threads whose newest version is not handled and that are idle, newest first.

        A superset of the due ones: the gates decide. Served by an index: its cost follows what is
        unhandled, not what is there. Leaves out vanished and archived threads, modes but
        ``enabled``, unreadable ones, and jobs in backoff, exhausted or running on this version.

        ``admitted_kinds``: only these take room under ``limit``; None admits all, so that many
        threads of a kind that no gate lets through can keep due ones out of sight.
        """

    def newest_stamp(self, source: str) -> tuple[int, ThreadId] | None:
        """``mtime_ns`` and id of the thread of a source that is the last by both: how far a source
        that is read in order has been read. None when nothing of it is known."""

    def waiting(self, source: str, *, now: datetime, limit: int) -> Sequence[ThreadState]:
        """Unhandled threads whose time to be looked at has come, the longest waiting first.

        Leaves out what is parked and jobs in backoff, exhausted or running on this version. Served
        by an index: its cost follows what is waiting.
        """

    def unhandled(self, source: str, *, user_id: str | None = None) -> Iterator[ThreadState]:
        """All threads whose newest version is not handled, parked or not, the newest first; read in
        pages."""

    def unpark(
        self,
        *,
        now: datetime,
        user_id: str | None = None,
        thread_ids: Collection[ThreadId] | None = None,
    ) -> int:
        """Have unhandled threads of a user, or these, looked at now; how many. For whoever changes
        what a gate asks: settings, flags."""


class RolloutSource(Protocol):
    """One place where threads come from, such as a Codex home."""

    @property
    def name(self) -> str:
        """``codex``; part of every thread's identity in the store."""

    def look(self, catalogue: ThreadCatalogue) -> CatalogueChanges:
        """Compare what is there with what the catalogue knows.

        Opens nothing that did not change. Idempotent.

        Raises:
            TransientError: the place itself cannot be listed.
        """

    def read(self, thread: Thread) -> Reading:
        """The evidence of one thread, bounded in memory whatever the file's size.

        Raises:
            RolloutUnreadable: gone, empty, or no line is a rollout item.
        """


class Gatekeeper(Protocol):
    """The gates of one source: which of its threads may be extracted now, and why others not."""

    def possibly_due(self, *, now: datetime, limit: int) -> Sequence[ThreadState]:
        """At most ``limit`` threads worth judging; a superset of the due ones, served by an
        index."""

    def judge(
        self, states: Sequence[ThreadState], *, now: datetime, is_asked_for: bool = False
    ) -> Sequence[Ruling]:
        """A ruling a thread, in the order given; a few queries for all of them.

        ``is_asked_for``: a person asked for these threads, so the gates of timing are waived.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A source with its gates."""

    source: RolloutSource
    gates: Gatekeeper
    idle: timedelta = timedelta(0)
    """How long a changed file must rest before it is worth a run; the gates may want longer."""

    @property
    def name(self) -> str:
        """The source's."""
        return self.source.name


class JobLedger(Protocol):
    """Jobs with leases.

    Every method is one transaction; safe from many threads and processes; exactly one wins.
    """

    def claim_stage1(
        self,
        thread: Thread,
        *,
        policy: LeasePolicy,
        worker: str,
        run_id: str,
        now: datetime,
        is_forced: bool = False,
    ) -> Stage1ClaimOutcome:
        """Try to own a thread's extraction.

        Order of tests: up to date, running (live lease), exhausted, backoff, capacity. An expired
        lease can be claimed again and counts as a crash: it uses one attempt. A higher watermark
        renews budget and ends backoff. ``is_forced`` skips up to date, exhausted and backoff.
        """

    def finish_stage1(
        self, claim: Claimed, output: Stage1Output | None, *, entry: LogEntry, now: datetime
    ) -> None:
        """Store the output (or delete the old one when it is None), mark the job done, write the
        log row, and raise the space's input watermark when anything changed: all or nothing.

        An output equal to the stored one in its three texts leaves the space's watermark alone.
        Usage figures stay.

        Raises:
            LeaseLost: the token is no longer the holder's; nothing was written.
        """

    def fail(
        self,
        claim: Claimed,
        *,
        kind: FailureKind,
        error: RedactedText,
        policy: LeasePolicy,
        now: datetime,
        retry_after_seconds: int | None = None,
        entry: LogEntry | None = None,
    ) -> None:
        """Mark a claimed job failed; permanent failures use an attempt, transient ones lengthen the
        wait.

        Raises:
            LeaseLost: the token is no longer the holder's; nothing was written.
        """

    def release(self, claim: Claimed, *, entry: LogEntry | None = None, now: datetime) -> None:
        """Give a job back as if it had not been claimed; for a thread that turned out not to be
        due.

        Raises:
            LeaseLost: the token is no longer the holder's; nothing was written.
        """

    def renew(self, claim: Claimed, *, policy: LeasePolicy, now: datetime) -> Claimed:
        """Extend a lease.

        Raises:
            LeaseLost: the token is no longer the holder's.
        """

    def end_leases(self, is_gone: Callable[[str], bool], *, now: datetime) -> int:
        """End the live leases of workers that are gone, which counts as their crash; how many."""

    def claim_phase2(
        self,
        space_id: SpaceId,
        *,
        policy: LeasePolicy,
        worker: str,
        run_id: str,
        now: datetime,
        is_forced: bool = False,
    ) -> Phase2ClaimOutcome:
        """Try to own a space's consolidation.

        Order of tests: running, up to date (no change since the last success), backoff, cooldown.
        ``is_forced`` skips all but running. A forgetting (an output taken away) is not delayed by
        the cooldown.
        """

    def finish_phase2(
        self,
        claim: Claimed,
        publication: Publication | None,
        *,
        selected: Mapping[ThreadId, int],
        now: datetime,
    ) -> None:
        """Publish a version (None: nothing changed) and mark the job done up to the claim's
        watermark: all or nothing.

        ``selected``: thread id to ``source_updated_at`` of the outputs used, which get the
        selection flag.

        Raises:
            LeaseLost: the token is no longer the holder's; nothing was written.
        """

    def job(self, kind: JobKind, key: str) -> Job | None:
        """One job row."""

    def request_consolidation(self, space_id: SpaceId, *, now: datetime) -> None:
        """Raise a space's input watermark by hand, so that the next consolidation does not find it
        up to date."""


class OutputStore(Protocol):
    """Stage-1 outputs, the extraction log and published memory."""

    def output(self, thread_id: ThreadId) -> Stage1Output | None:
        """The stored output of a thread."""

    def selectable_outputs(self, space_id: SpaceId) -> Sequence[SelectedOutput]:
        """All outputs of a space whose thread may still be used: seen, memory mode enabled.

        By thread id.
        """

    def record(
        self,
        entries: Sequence[LogEntry],
        *,
        looks: Mapping[ThreadId, datetime | None] | None = None,
    ) -> None:
        """Write log rows, overwriting each thread's earlier one, and when threads are to be looked
        at again (None: parked), in one transaction."""

    def log(
        self,
        *,
        space_id: SpaceId | None = None,
        thread_id: ThreadId | None = None,
        user_id: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[LogEntry]:
        """Log rows, newest first, then by thread id."""

    def spaces(self) -> Sequence[SpaceState]:
        """Every space that has threads, outputs or published memory; by id."""

    def space(self, space_id: SpaceId) -> SpaceState:
        """One space; an unknown one reads as empty."""

    def publication(self, space_id: SpaceId, version: int | None = None) -> Publication | None:
        """A published version with its files; the newest when ``version`` is None."""


class Extractor(Protocol):
    """Turns one transcript into a memory.

    Deterministic, or recorded with its version. Share one: safe from many threads.
    """

    @property
    def version(self) -> str:
        """Name and version, such as ``offline/1`` or ``openai:gpt-5-mini/extract-1``."""

    def extract(self, transcript: Transcript, work: Work) -> Extraction:
        """What is worth remembering of it; ``work`` says on whose account.

        Raises:
            ContextOverflow: a shorter transcript may do.
            BudgetReached: a spending limit forbids the call; nothing was sent.
            TransientError: trying again later may help.
            PermanentError: this transcript will fail again.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChange:
    """One change of what is set for a space or a user."""

    name: str
    old: str | None
    """None: it was not set."""
    new: str | None
    """None: it is not set any more."""
    who: str
    changed_at: datetime


class ScopeSettings(Protocol):
    """What a person set for one space or user, over what the deployment says."""

    def scope_values(self, scope: Scope, scope_id: str) -> Mapping[str, str]:
        """Name to value of what was set; empty when nothing was."""

    def set_scope_value(
        self, scope: Scope, scope_id: str, name: str, value: str | None, *, who: str, now: datetime
    ) -> None:
        """Set one value, or take it back (None), and note who did. Names and values are the
        caller's to check. Setting what is set already is no change."""

    def scopes_with_values(self) -> Sequence[tuple[Scope, str]]:
        """Every space and user for which something is set; by scope, then id."""

    def scope_changes(
        self, scope: Scope, scope_id: str, *, limit: int = 100
    ) -> Sequence[ScopeChange]:
        """Who changed what, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendTotal:
    """Calls of one day, model, purpose, space and user, added up."""

    day: str
    """``YYYY-MM-DD``, UTC."""
    model: str
    purpose: Purpose
    space_id: SpaceId
    user_id: str
    spent: Spent
    estimated_calls: int
    """Calls whose answer was lost."""


class SpendLedger(Protocol):
    """Sets money aside before a call and books it afterwards, in the database.

    Every method is one transaction; eight threads and two processes at once never pass a limit.
    """

    def reserve(
        self,
        work: Work,
        amount: MicroUsd,
        *,
        limits: Sequence[SpendLimit],
        now: datetime,
        model: str = "",
    ) -> Reserved | LimitReached:
        """Set ``amount`` aside, unless what was spent and set aside plus this would pass one of
        ``limits`` (reaching one exactly passes). Limits of scopes that are not the work's are
        ignored; work outside any run is a run of its own. ``model``: what the spend of a
        reservation that is never settled is shown under.
        """

    def settle(self, reserved: Reserved, call: ModelCall) -> None:
        """Book what the call cost instead of the reservation; more than was reserved is booked
        too. Idempotent."""

    def free(self, reserved: Reserved) -> None:
        """Take a reservation back, since nothing was billed. Idempotent."""

    def settle_abandoned(self, is_gone: Callable[[str], bool], *, now: datetime) -> int:
        """Book reservations of workers that are gone, and those older than any call can take, at
        their full amount; how many. One that is settled after all gets its true cost."""

    def taken(
        self, limits: Sequence[SpendLimit], *, now: datetime, run_id: str = ""
    ) -> Sequence[MicroUsd]:
        """What counts against each limit now: spent and set aside. ``run_id``: whose run limits
        are meant."""

    def spend_totals(
        self, *, since: datetime | None = None, space_id: SpaceId | None = None
    ) -> Sequence[SpendTotal]:
        """By day, then model, purpose, space and user. ``since`` is included."""

    def spent_usd(self, *, since: datetime | None = None) -> float:
        """What was spent in all; ``since`` is included, and what is set aside is not."""


class StateStore(ThreadCatalogue, JobLedger, OutputStore, ScopeSettings, SpendLedger, Protocol):
    """The whole state store."""


class Prices(Protocol):
    """What tokens cost."""

    def cost(self, model: str, usage: TokenUsage) -> MicroUsd:
        """What ``usage`` of ``model`` (``provider:name``) costs, rounded up.

        Raises:
            UnknownPrice: neither known nor configured.
        """


class Staging(Protocol):
    """A private copy of a space's workspace; nothing outside it changes until ``publish``."""

    def paths(self) -> Sequence[str]:
        """Relative paths of all files, sorted, with ``/``; the git folder left out."""

    def read(self, path: str) -> str | None:
        """A file's text, or None when it is not there."""

    def write(self, path: str, text: RedactedText) -> None:
        """Write a file, making folders.

        Raises:
            InvalidArtifacts: the path leaves the staging folder, is a link, or is the git folder's.
        """

    def delete(self, path: str) -> None:
        """Remove a file; nothing happens when it is not there."""

    def diff(self) -> WorkspaceDiff:
        """What differs from the baseline, the person's own edits included."""

    def baseline(self, path: str) -> str | None:
        """A file's text in the baseline, or None."""

    def edited_by_hand(self) -> Sequence[str]:
        """Paths that differed from the baseline when the staging copy was taken: a person's
        edits."""

    def links(self) -> Sequence[str]:
        """Paths of symbolic links found in the copy, which are never followed nor published."""

    def publish(self, message: str) -> AbstractContextManager[str]:
        """Swap the copy in as the workspace and commit it as the new baseline; gives the commit's
        id.

        Left by an exception, the context puts the former workspace back, byte for byte. Left well,
        the former one is gone; its text lives on in git's history.
        """


class Workspace(Protocol):
    """The memory workspaces, one folder a space."""

    def location(self, space_id: SpaceId) -> str:
        """Absolute path of a space's folder, whether it is there or not."""

    def holds(self, space_id: SpaceId, paths: Collection[str]) -> bool:
        """True when all these files are in a space's folder. Costs one ``stat`` a path."""

    def stage(self, space_id: SpaceId) -> AbstractContextManager[Staging]:
        """A staging copy of a space's workspace (an empty one at first), removed when the context
        ends."""

    def recover(self, published: Publication | None, space_id: SpaceId) -> bool:
        """Make the workspace agree with the store after a crash or a move: finish or undo a half-
        done swap, rebuild a missing folder from the published files.

        True when it had to do anything. A person's edits are kept.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """What a consolidator did."""

    statements_in: int = 0
    statements_out: int = 0
    merged: int = 0
    superseded: int = 0
    kept_by_hand: int = 0
    spent: Spent = NOTHING_SPENT


FindProblems = Callable[[], Sequence[str]]
"""Says why the staging copy may not be published, one sentence each; empty when it may."""


class Consolidator(Protocol):
    """Rewrites the files it owns in staging from the selected stage-1 outputs."""

    @property
    def version(self) -> str:
        """Name and version, such as ``offline/1``."""

    def consolidate(
        self,
        staging: Staging,
        selection: Sequence[SelectedOutput],
        diff: WorkspaceDiff,
        *,
        work: Work,
        find_problems: FindProblems,
    ) -> ConsolidationReport:
        """Write ``MEMORY.md`` and ``memory_summary.md`` (and ``skills/``) so that they tell what
        the selection knows.

        ``raw_memories.md`` and ``rollout_summaries/`` are in place already; ``diff`` is the work
        order. ``find_problems`` judges staging as it stands, as it will be judged afterwards.

        Raises:
            TransientError (BudgetReached among them), PermanentError, InvalidArtifacts
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredValue:
    """A text, or a JSON-like value, as it is kept somewhere; it may hold a secret."""

    place: str
    """What keeps it, in a person's words: ``state store``, ``git history``, …"""
    where: str
    """The column or file; may hold a secret itself."""
    value: object
    key: object
    """Tells it from the others of the same ``StoredTexts``."""
    problem: str = ""
    """Why it could not be read, as one sentence; empty when it could."""


class StoredTexts(Protocol):
    """A place that keeps texts, and can be made to keep others instead."""

    def values(self) -> Iterator[StoredValue]:
        """Everything in it; names and keys too. Never raises for one damaged thing."""

    def rewrite(self, key: object, change: Callable[[object], object]) -> None:
        """Store ``change`` of what stands there now, as one step; what cannot be changed (names,
        keys, damaged things) stays as it is. Idempotent."""

    def scrub(self) -> None:
        """Leave nothing behind of what was rewritten: no old page, log or object. Idempotent, also
        after a ``rewrite`` in a process that was killed."""


FindSecrets = Callable[[str], Collection[object]]
"""Finds known kinds of secret in a text; empty when there is none."""

Progress = Callable[[int, int], None]
"""Told after each thread: how many are done, how many there are."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""
