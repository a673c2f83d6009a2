"""After a crash at any moment, or on another machine, the workspace says what the store says."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from automemory_dagster.domain.errors import InvalidArtifacts, TransientError
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.workspace import Publication
from tests.adapters.workspace.ground import (
    SPACE,
    Ground,
    a_publication,
    contents,
    fingerprint,
    killed_at_change,
)

PNG = b"\x89PNG\x00\xff"
OLD = {"MEMORY.md": "one\n", "gone.md": "gone\n", "notes/a.md": "a\n"}
NEW = {"MEMORY.md": "two\n", "gone.md": None, "notes/new.md": "new\n"}
NEW_TEXTS = {"MEMORY.md": "two\n", "notes/a.md": "a\n", "notes/new.md": "new\n", "own.md": "own\n"}
MAX_CHANGES = 400


def texts(files: Mapping[str, str]) -> dict[str, RedactedText]:
    return {path: RedactedText(text) for path, text in files.items()}


def recovered(ground: Ground, published: Publication | None) -> bool:
    """Recover, and prove that a second time finds nothing to do."""
    did = ground.workspaces.recover(published, SPACE)
    assert not ground.workspaces.recover(published, SPACE)
    return did


def leftovers(ground: Ground) -> list[str]:
    private = ground.folder.parent / f".{ground.folder.name}"
    return sorted(entry.name for entry in private.iterdir() if entry.name != "lock")


class TestKilledWhilePublishing:
    @staticmethod
    def publish(ground: Ground, store: Path, *, is_refused: bool = False) -> None:
        """Publish the new version; ``store`` is written where a real one would commit."""
        try:
            with ground.workspaces.stage(SPACE) as staging:
                for path, text in NEW.items():
                    if text is None:
                        staging.delete(path)
                    else:
                        staging.write(path, RedactedText(text))
                with staging.publish("Second") as commit:
                    if is_refused:
                        raise LookupError
                    store.write_text(commit, "utf-8")
        except LookupError:
            pass

    @pytest.mark.parametrize("is_refused", [False, True])
    def test_at_every_change_of_the_disk(self, quick_disk: Path, *, is_refused: bool) -> None:
        outcomes = []
        for number in range(1, MAX_CHANGES):
            ground, store = Ground(quick_disk / str(number)), quick_disk / f"store-{number}"
            first = ground.publish(OLD, "First")
            ground.edit("own.md", "own\n")
            ground.edit("a.png", PNG)
            before = fingerprint(ground.folder)

            was_killed = killed_at_change(
                number,
                lambda: self.publish(ground, store, is_refused=is_refused),  # noqa: B023
            )
            if store.exists():
                self.check_new(ground, first, store.read_text("utf-8"))
            else:
                recovered(ground, first)
                assert fingerprint(ground.folder) == before
            assert leftovers(ground) == []
            outcomes.append(store.exists())
            shutil.rmtree(ground.root)
            if not was_killed:
                break

        assert len(outcomes) > 20
        assert not outcomes[0]
        assert outcomes[-1] is not is_refused
        assert outcomes == sorted(outcomes)

    @staticmethod
    def check_new(ground: Ground, first: Publication, commit: str) -> None:
        recovered(ground, replace(first, files=texts(NEW_TEXTS), commit=commit, version=2))
        assert contents(ground.folder) == {
            "a.png": PNG,
            **{path: text.encode() for path, text in NEW_TEXTS.items()},
        }
        assert ground.git("rev-parse", "HEAD").strip() == commit
        assert ground.git("status", "--porcelain") == ""

    def test_at_every_change_of_the_first_publish(self, quick_disk: Path) -> None:
        for number in range(1, MAX_CHANGES):
            ground, store = Ground(quick_disk / str(number)), quick_disk / f"store-{number}"

            was_killed = killed_at_change(number, lambda: self.publish(ground, store))  # noqa: B023
            published = None
            if store.exists():
                files = texts({"MEMORY.md": "two\n", "notes/new.md": "new\n"})
                published = a_publication(files, commit=store.read_text("utf-8"))
            recovered(ground, published)

            assert leftovers(ground) == []
            if published:
                assert contents(ground.folder).keys() == published.files.keys()
            else:
                assert not ground.folder.exists() or not any(ground.folder.iterdir())
            shutil.rmtree(ground.root)
            if not was_killed:
                break

        assert number > 20


class TestKilledWhileRecovering:
    def test_at_every_change_of_undoing_a_swap(self, quick_disk: Path) -> None:
        for number in range(1, MAX_CHANGES):
            ground = Ground(quick_disk / str(number))
            first = self.swapped_without_the_store(ground)

            was_killed = killed_at_change(
                number,
                lambda: ground.workspaces.recover(first, SPACE),  # noqa: B023
            )
            recovered(ground, first)

            self.check_old_with_edits(ground)
            shutil.rmtree(ground.root)
            if not was_killed:
                break

        assert number > 5

    def test_at_every_change_of_a_rebuild(self, quick_disk: Path) -> None:
        elsewhere = a_publication(texts({"MEMORY.md": "elsewhere\n", "b.md": "b\n"}), version=7)
        for number in range(1, MAX_CHANGES):
            ground = Ground(quick_disk / str(number))
            ground.publish(OLD, "First")
            ground.edit("own.md", "own\n")
            ground.edit("a.png", PNG)

            was_killed = killed_at_change(
                number,
                lambda: ground.workspaces.recover(elsewhere, SPACE),  # noqa: B023
            )
            recovered(ground, elsewhere)

            assert contents(ground.folder) == {
                "MEMORY.md": b"elsewhere\n",
                "a.png": PNG,
                "b.md": b"b\n",
                "own.md": b"own\n",
            }
            assert leftovers(ground) == []
            shutil.rmtree(ground.root)
            if not was_killed:
                break

        assert number > 20

    @staticmethod
    def swapped_without_the_store(ground: Ground) -> Publication:
        """The state after the renames and before the store's commit, edited by a person since."""
        first = ground.publish(OLD, "First")
        killed_at_change(MAX_CHANGES, lambda: _exit_inside_publish(ground))
        ground.edit("MEMORY.md", "mine on two\n")
        ground.edit("deep/own.md", "own\n")
        (ground.folder / "notes/a.md").unlink()
        return first

    @staticmethod
    def check_old_with_edits(ground: Ground) -> None:
        assert contents(ground.folder) == {
            "MEMORY.md": b"mine on two\n",
            "gone.md": b"gone\n",
            "deep/own.md": b"own\n",
        }
        assert ground.subjects() == ["First"]
        assert leftovers(ground) == []


def _exit_inside_publish(ground: Ground) -> None:
    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("two\n"))
        with staging.publish("Second"):
            os._exit(0)


class TestRebuild:
    def test_nothing_is_done_when_all_is_well(self, ground: Ground) -> None:
        published = ground.publish(OLD)
        ground.edit("MEMORY.md", "mine\n")
        before = fingerprint(ground.folder)

        assert not ground.workspaces.recover(published, SPACE)
        assert not ground.workspaces.recover(None, SPACE)

        assert fingerprint(ground.folder) == before

    def test_a_missing_folder_is_made_from_the_store(self, ground: Ground) -> None:
        published = ground.publish(OLD)
        shutil.rmtree(ground.folder)

        assert recovered(ground, published)

        assert contents(ground.folder) == {path: text.encode() for path, text in OLD.items()}
        assert ground.subjects() == ["Memory version 1, rebuilt from the state store"]
        assert ground.git("status", "--porcelain") == ""

    def test_on_another_machine_with_an_empty_folder(self, ground: Ground) -> None:
        ground.folder.mkdir(parents=True)

        assert recovered(ground, a_publication(texts(OLD), commit="a" * 40))

        assert contents(ground.folder).keys() == OLD.keys()

    def test_another_machines_version_is_taken_in_and_history_kept(self, ground: Ground) -> None:
        first = ground.publish({**OLD, "run.sh": "#!/bin/sh\n"}, "First")
        elsewhere = replace(
            first, version=2, commit="b" * 40, files=texts({"MEMORY.md": "two\n", "n/m.md": "n"})
        )

        assert recovered(ground, elsewhere)

        assert contents(ground.folder) == {"MEMORY.md": b"two\n", "n/m.md": b"n"}
        assert ground.subjects() == ["Memory version 2, rebuilt from the state store", "First"]
        assert ground.git("status", "--porcelain") == ""
        assert ground.git("fsck", "--full", "--strict", "--no-dangling") == ""

    def test_a_persons_edits_stay_on_top_of_it_uncommitted(self, ground: Ground) -> None:
        first = ground.publish(OLD, "First")
        ground.edit("MEMORY.md", "mine\n")
        ground.edit("b", "a file where the store has a folder")
        ground.edit("c.md/x.md", "a folder where the store has a file")
        (ground.folder / "gone.md").unlink()
        files = {"MEMORY.md": "two\n", "gone.md": "g2\n", "b/x.md": "x", "c.md": "c", "d.md": "d"}

        assert recovered(ground, replace(first, version=2, commit="", files=texts(files)))

        assert contents(ground.folder) == {
            "MEMORY.md": b"mine\n",
            "b": b"a file where the store has a folder",
            "c.md/x.md": b"a folder where the store has a file",
            "d.md": b"d",
        }
        with ground.workspaces.stage(SPACE) as staging:
            assert staging.baseline("MEMORY.md") == "two\n"
            assert "gone.md" in staging.edited_by_hand()
            assert "d.md" not in staging.edited_by_hand()
        assert ground.subjects()[1:] == ["Edits by hand", "First"]
        assert ground.git("show", "HEAD~1:MEMORY.md") == "mine\n"

    def test_a_folder_without_history_keeps_its_files_as_edits(self, ground: Ground) -> None:
        published = ground.publish(OLD)
        shutil.rmtree(ground.folder / ".git")
        ground.edit("MEMORY.md", "mine\n")
        (ground.folder / "gone.md").unlink()

        assert recovered(ground, published)

        assert contents(ground.folder) == {
            "MEMORY.md": b"mine\n",
            "gone.md": b"gone\n",
            "notes/a.md": b"a\n",
        }
        with ground.workspaces.stage(SPACE) as staging:
            assert list(staging.edited_by_hand()) == ["MEMORY.md"]

    def test_damaged_objects_are_noticed_and_put_aside(self, ground: Ground) -> None:
        published = ground.publish(OLD)
        for place in (ground.folder / ".git/objects").glob("??/*"):
            place.unlink()

        assert recovered(ground, published)

        assert contents(ground.folder) == {path: text.encode() for path, text in OLD.items()}
        assert ground.git("fsck", "--full", "--strict") == ""
        assert leftovers(ground) == ["put-aside"]

    def test_a_path_from_the_store_cannot_leave_the_workspace(
        self, ground: Ground, tmp_path: Path
    ) -> None:
        with pytest.raises(InvalidArtifacts):
            ground.workspaces.recover(a_publication(texts({"../../evil.md": "x"})), SPACE)

        assert not (tmp_path / "evil.md").exists()
        assert not ground.folder.exists()

    def test_a_swap_cut_short_must_be_recovered_before_staging(self, ground: Ground) -> None:
        first = TestKilledWhileRecovering.swapped_without_the_store(ground)

        with (
            pytest.raises(TransientError, match="recover it first"),
            ground.workspaces.stage(SPACE),
        ):
            pass

        assert recovered(ground, first)
        with ground.workspaces.stage(SPACE) as staging:
            assert staging.read("gone.md") == "gone\n"
