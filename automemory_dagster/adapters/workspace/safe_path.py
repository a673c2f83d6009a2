"""Which relative paths may be written into a workspace, on any system it may be copied to.

The trap: a name that one file system takes for another. ``.GIT``, ``.git.``, ``git~1`` and a
``.git`` with an invisible character are all the git folder somewhere, and whoever writes there runs
code.
"""

import re
import unicodedata

from automemory_dagster.domain.errors import InvalidArtifacts

MAX_NAME_BYTES = 255
"""What common file systems hold."""

MAX_PATH_BYTES = 1024
"""Ours; leaves room for the folders above on systems that stop at 4,096."""

_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(?:\..*)?",
    re.IGNORECASE | re.DOTALL,
)
_UNPORTABLE = re.compile(r'[\\:*?"<>|]')
_GIT_SHORT_NAME = re.compile(r"git~[0-9]+")


def check_new_path(path: str) -> None:
    """Accept a path for a file that we make.

    Raises:
        InvalidArtifacts: it could leave the workspace, reach a git folder, or not be kept by some
        system; the message says which.
    """
    check_path_stays_inside(path)
    for name in path.split("/"):
        if problem := _portability_problem(name):
            raise _refused(path, problem)


def check_path_stays_inside(path: str) -> None:
    """Accept a path that is harmless here, if not portable: a person may have chosen it.

    Raises:
        InvalidArtifacts: it could leave the workspace, reach a git folder, or be no path at all.
    """
    try:
        encoded = path.encode()
    except UnicodeEncodeError as error:
        raise _refused(path, "holds half of a surrogate pair") from error
    if "\0" in path:
        raise _refused(path, "holds a NUL character")
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        raise _refused(path, "is an absolute path")
    if len(encoded) > MAX_PATH_BYTES:
        raise _refused(path, f"is longer than {MAX_PATH_BYTES:,} bytes")
    for name in path.split("/"):
        if problem := _escape_problem(name):
            raise _refused(path, problem)


def is_git_name(name: str) -> bool:
    """True when some file system takes this name for ``.git``."""
    plain = unicodedata.normalize("NFKC", _visible(name)).casefold().split(":", 1)[0].rstrip(" .")
    return plain == ".git" or _GIT_SHORT_NAME.fullmatch(plain) is not None


def _escape_problem(name: str) -> str:
    if name == "":
        return "has an empty name in it"
    if _visible(name).strip(" .") == "":
        return "has a part that is only dots, spaces or invisible characters"
    if len(name.encode()) > MAX_NAME_BYTES:
        return f"has a name longer than {MAX_NAME_BYTES} bytes"
    if any(is_git_name(piece) for piece in name.split("\\")):
        return "names a git folder"
    return ""


def _visible(name: str) -> str:
    # Format characters (category Cf) are those that HFS+ ignores, and more.
    return "".join(letter for letter in name if unicodedata.category(letter) != "Cf")


def _portability_problem(name: str) -> str:
    if _UNPORTABLE.search(name):
        return 'holds one of the characters \\ : * ? " < > |'
    if any(unicodedata.category(letter) == "Cc" for letter in name):
        return "holds a control character"
    if name.endswith((" ", ".")):
        return "has a name that ends in a space or a dot"
    if _DEVICE.fullmatch(name):
        return "has a name that Windows keeps for a device"
    return ""


def _refused(path: str, problem: str) -> InvalidArtifacts:
    shown = ascii(path if len(path) <= 120 else path[:120] + "...")
    return InvalidArtifacts(f"The path {shown} {problem}; no file was written.")
