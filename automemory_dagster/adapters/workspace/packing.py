"""Keeps a git folder small: many loose objects become one pack of differences.

Each published version rewrites a few large files by a few lines, so the differences are a hundredth
of the whole. Only loose objects are taken, so that the cost follows what is new and not how long
the history is.
"""

from dulwich.object_store import DiskObjectStore
from dulwich.objects import ShaFile
from dulwich.pack import deltify_pack_objects

MAX_LOOSE_OBJECTS = 200
"""Ours: some twenty versions of a memory."""


def pack_loose_objects(objects: DiskObjectStore) -> None:
    """Replace loose objects by one pack when there are more than ``MAX_LOOSE_OBJECTS``."""
    if objects.count_loose_objects() <= MAX_LOOSE_OBJECTS:
        return
    loose: list[ShaFile] = [objects[object_id] for object_id in list(objects._iter_loose_objects())]
    objects.add_pack_data(len(loose), deltify_pack_objects(iter(loose)))
    for item in loose:
        objects.delete_loose_object(item.id)
