"""The deployment's home: its folders, and the consent that a person gave in it."""

from automemory_dagster.adapters.home.consent import has_consent, remember_consent
from automemory_dagster.adapters.home.layout import HomeLayout, prepare_home

__all__ = ["HomeLayout", "has_consent", "prepare_home", "remember_consent"]
