"""Leases kept alive while work runs, and let go when they are lost.

The trap: a call longer than its lease is stolen and two workers finish the same job. Codex's phase
1 has no renewal.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from automemory_dagster.domain.errors import AutomemoryError, LeaseLost
from automemory_dagster.domain.job import Claimed, LeasePolicy
from automemory_dagster.ports import Clock, JobLedger


class Heartbeat:
    """Renews every lease put into its care from one background thread.

    Safe from many threads.
    """

    def __init__(self, ledger: JobLedger, *, policy: LeasePolicy, clock: Clock) -> None:
        self._ledger = ledger
        self._policy = policy
        self._clock = clock
        self._claims: dict[str, Claimed] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    @contextmanager
    def keeping(self, claim: Claimed) -> Iterator[Claimed]:
        """Renew this claim's lease until the block ends."""
        with self._lock:
            self._claims[claim.token] = claim
        try:
            yield claim
        finally:
            with self._lock:
                self._claims.pop(claim.token, None)

    def _beat(self) -> None:
        # A quarter of the lease: three renewals may fail before the lease does.
        while not self._stop.wait(self._policy.lease.total_seconds() / 4):
            with self._lock:
                claims = list(self._claims.values())
            for claim in claims:
                self._renew(claim)

    def _renew(self, claim: Claimed) -> None:
        try:
            self._ledger.renew(claim, policy=self._policy, now=self._clock())
        except LeaseLost:
            # The worker learns it from its own next write, which is refused; renewing on is
            # useless.
            with self._lock:
                self._claims.pop(claim.token, None)
        except AutomemoryError:
            # A store that is away for a moment: the next beat tries again, well inside the lease.
            return
