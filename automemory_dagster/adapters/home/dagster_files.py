"""The instance and workspace files of Dagster, put where the home's Dagster folder needs them."""

import os
from pathlib import Path

from automemory_dagster.adapters.home.layout import HomeLayout

DAGSTER_YAML = "dagster.yaml"
WORKSPACE_YAML = "workspace.yaml"

_PACKAGE = Path(__file__).resolve().parents[2]


def write_dagster_files(layout: HomeLayout) -> Path:
    """Bring ``dagster.yaml`` in the home up to date with this version; gives its folder.

    Atomic and idempotent.
    """
    text = deployment_file(DAGSTER_YAML).read_text("utf-8")
    target = layout.dagster / DAGSTER_YAML
    if not target.is_file() or target.read_text("utf-8") != text:
        draft = target.with_suffix(f".{os.getpid()}.new")
        draft.write_text(text, "utf-8")
        os.replace(draft, target)
    return layout.dagster


def deployment_file(name: str) -> Path:
    """A deployment file: beside the package in a checkout, inside it in an installed wheel."""
    beside = _PACKAGE.parent / name
    return beside if beside.is_file() else _PACKAGE / "deployment" / name
