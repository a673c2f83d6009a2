"""Git's tree objects for a set of files."""

import stat
from collections.abc import Mapping

from dulwich.objects import ObjectID, ShaFile, Tree

from automemory_dagster.adapters.workspace.scan import Blob


def make_trees(files: Mapping[bytes, Blob]) -> tuple[Tree, list[ShaFile]]:
    """Git's tree objects for these files, the root's first."""
    folders: dict[bytes, dict[bytes, tuple[int, bytes]]] = {b"": {}}
    for path, blob in files.items():
        folder, _, name = path.rpartition(b"/")
        while folder not in folders:
            folders[folder] = {}
            folder = folder.rpartition(b"/")[0]
        folders[path.rpartition(b"/")[0]][name] = (blob.mode, blob.blob_id)
    trees: list[ShaFile] = []
    # The deepest first: a folder's id is needed in the one above it.
    for folder in sorted(folders, key=lambda path: (-path.count(b"/"), path == b"")):
        tree = Tree()
        for name, (mode, object_id) in folders[folder].items():
            tree.add(name, mode, ObjectID(object_id))
        trees.append(tree)
        if folder:
            above, _, name = folder.rpartition(b"/")
            folders[above][name] = (stat.S_IFDIR, tree.id)
    root = trees[-1]
    if not isinstance(root, Tree):
        raise AssertionError("the last tree is the root")
    return root, trees
