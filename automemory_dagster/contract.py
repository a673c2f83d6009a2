"""Names that outsiders rely on: jobs, assets, pools, partition sets, tags, run keys.

Changing one breaks somebody.
"""

import hashlib
from collections.abc import Iterable

CODE_LOCATION = "automemory_dagster"

THREADS_PARTITIONS = "threads"
SPACES_PARTITIONS = "spaces"

CANDIDATE_ROLLOUT = "candidate_rollout"
STAGE1_OUTPUT = "stage1_output"
SELECTABLE_OUTPUTS = "selectable_outputs"
MEMORY = "memory"

SWEEP_JOB = "sweep"
CONSOLIDATE_JOB = "consolidate_memory"
HOUSEKEEPING_JOB = "housekeeping"
FIND_OP = "find_candidates"
EXTRACT_OP = "extract_threads"
CONSOLIDATE_OP = "consolidate"

PHASE1_POOL = "phase1_extraction"
PHASE1_POOL_LIMIT = 2
PHASE2_POOL = "phase2_consolidation"
PHASE2_POOL_LIMIT = 1

IDLE_SENSOR = "idle_rollouts"
PENDING_SENSOR = "memory_pending"
HOUSEKEEPING_SCHEDULE = "daily_housekeeping"

SINGLETON_TAG = "automemory/singleton"
PROCESS_TAG = "automemory/process"
"""On a run: the process that works on it."""


def thread_run_key(thread_id: str, source_updated_at: int, attempt: int) -> str:
    """The identity of one try at one version of one thread; Dagster launches one run a key, for
    ever."""
    return f"{thread_id}:{source_updated_at}:{attempt}"


def batch_run_key(members: Iterable[str], asked_at: int) -> str:
    """The identity of one asking for one batch: its members' run keys whatever their order, and
    when it was asked for, in Unix seconds.

    The moment and not a count: a batch may come back after another one, when its count begins anew.
    """
    digest = hashlib.sha256("\n".join(sorted(members)).encode()).hexdigest()
    return f"batch:{digest[:32]}:{asked_at}"
