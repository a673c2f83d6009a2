"""Consent to generation, remembered in the home, one word a Codex home.

Off until a person says so, like the official feature; said for one Codex home, it says nothing
about another.
"""

import json
import os
from pathlib import Path

from automemory_dagster.domain.errors import SettingsError


def has_consent(file: Path, codex_home: Path) -> bool:
    """True when the last word about this Codex home was yes; False when nothing was said.

    Raises:
        SettingsError: the file is there and cannot be understood; consent is never guessed.
    """
    return _read(file).get(str(codex_home), False)


def remember_consent(file: Path, codex_home: Path, *, is_given: bool) -> None:
    """Write the word down; it holds until the next one.

    Atomic.
    """
    said = {**_read(file), str(codex_home): is_given}
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps({"generate": said}, indent=2, sort_keys=True) + "\n", "utf-8")
    os.replace(draft, file)


def _read(file: Path) -> dict[str, bool]:
    try:
        said = json.loads(file.read_text("utf-8"))["generate"]
        if not all(isinstance(word, bool) for word in said.values()):
            raise ValueError("not a yes or a no")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"{file} does not say plainly whether generation is on ({type(error).__name__}); "
            "nothing was started. Delete the file and say it again with `automemory up --generate`."
        ) from error
    return dict(said)
