"""The deployment's home: its folders, the files Dagster reads there, and the person's consent."""

from automemory_dagster.adapters.home.consent import has_consent, remember_consent
from automemory_dagster.adapters.home.dagster_files import (
    DAGSTER_YAML,
    WORKSPACE_YAML,
    deployment_file,
    write_dagster_files,
)
from automemory_dagster.adapters.home.layout import HomeLayout, prepare_home
from automemory_dagster.adapters.home.process import is_gone, own_process

__all__ = [
    "DAGSTER_YAML",
    "WORKSPACE_YAML",
    "HomeLayout",
    "deployment_file",
    "has_consent",
    "is_gone",
    "own_process",
    "prepare_home",
    "remember_consent",
    "write_dagster_files",
]
