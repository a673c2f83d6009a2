"""Everything a deployment keeps, as texts that ``automemory scan`` looks through and mends."""

from automemory_dagster.adapters.scan.dagster_storage import DagsterTexts
from automemory_dagster.adapters.scan.home_files import HomeFiles
from automemory_dagster.adapters.scan.memory_folders import MemoryFolders
from automemory_dagster.adapters.scan.state import StateTexts

__all__ = ["DagsterTexts", "HomeFiles", "MemoryFolders", "StateTexts"]
