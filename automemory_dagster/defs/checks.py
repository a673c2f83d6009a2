"""Asset checks of ``memory``, evaluated after each consolidation over every published space."""

from collections.abc import Iterator

import dagster as dg

from automemory_dagster import contract
from automemory_dagster.domain.job import JobStatus
from automemory_dagster.domain.validation import validate
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.ports import FindSecrets
from automemory_dagster.wiring import Automemory, system_clock

_VALID, _NO_SECRETS, _NOT_STUCK = "artifacts_valid", "no_secrets_in_artifacts", "no_thread_stuck"

CHECK_SPECS = [
    dg.AssetCheckSpec(
        _VALID, asset=contract.MEMORY, description="The published files keep their formats."
    ),
    dg.AssetCheckSpec(
        _NO_SECRETS,
        asset=contract.MEMORY,
        description="No known kind of secret stands in a published file.",
    ),
    dg.AssetCheckSpec(
        _NOT_STUCK,
        asset=contract.MEMORY,
        description="No thread is out of tries or held by a lease that ran out.",
    ),
]


def check_memory(automemory: Automemory) -> Iterator[dg.AssetCheckResult]:
    """All checks, in the order of ``CHECK_SPECS``."""
    publications = [
        publication
        for space in automemory.store.spaces()
        if (publication := automemory.store.publication(space.space_id)) is not None
    ]
    yield _artifacts_valid(publications)
    yield _no_secrets(publications, automemory.secrets.find)
    yield _no_thread_stuck(automemory)


def _artifacts_valid(publications: list[Publication]) -> dg.AssetCheckResult:
    problems = [
        f"{publication.space_id}: {problem}"
        for publication in publications
        # A person's own files are published too; nothing tells them from others here.
        for problem in validate(
            publication.files, (), find_secrets=lambda text: (), known_paths=publication.files
        )
    ]
    return _result(_VALID, problems, f"{len(publications)} of {len(publications)} spaces valid")


def _no_secrets(publications: list[Publication], find_secrets: FindSecrets) -> dg.AssetCheckResult:
    problems = [
        f"{publication.space_id}: {len(found)} in {path}"
        for publication in publications
        for path, text in publication.files.items()
        if (found := find_secrets(text))
    ]
    return _result(_NO_SECRETS, problems, "no secret found")


def _no_thread_stuck(automemory: Automemory) -> dg.AssetCheckResult:
    now = system_clock()
    stuck = []
    for state in automemory.store.thread_states(source=automemory.choice.name):
        job = state.job
        if job is None:
            continue
        is_expired = job.status is JobStatus.RUNNING and job.lease_until and job.lease_until < now
        if is_expired:
            stuck.append(
                f"{state.thread.thread_id}: its lease ran out; the next sweep takes it over"
            )
        elif job.status is JobStatus.ERROR and job.retry_remaining <= 0:
            stuck.append(f"{state.thread.thread_id}: out of tries after: {job.last_error}")
    return _result(_NOT_STUCK, stuck, "no thread is stuck", severity=dg.AssetCheckSeverity.WARN)


def _result(
    name: str,
    problems: list[str],
    fine: str,
    *,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=contract.MEMORY,
        check_name=name,
        passed=not problems,
        severity=severity,
        description="; ".join(problems[:20]) or fine,
        metadata={"problems": dg.MetadataValue.int(len(problems))},
    )
