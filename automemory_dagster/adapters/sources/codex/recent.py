"""A set that forgets: bounded memory for "was this seen before?" over a file of any length."""

from collections.abc import Hashable


class RecentKeys:
    """Remembers at least the last ``most`` keys, at most twice as many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._young: set[Hashable] = set()
        self._old: set[Hashable] = set()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._young or key in self._old

    def add(self, key: Hashable) -> bool:
        """Remember a key; True when it was known already."""
        if key in self._young or key in self._old:
            return True
        self._young.add(key)
        if len(self._young) > self._most:
            self._old, self._young = self._young, set()
        return False

    def clear(self) -> None:
        """Forget everything."""
        self._young, self._old = set(), set()
