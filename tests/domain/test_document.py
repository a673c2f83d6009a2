"""Memory files as sections."""

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.document import read_sections, render_sections

LINES = st.sampled_from(
    ["", "text", "- bullet", "# One", "## Two", "## Two <!-- keep -->", "### Three", "#no heading"]
)


def test_a_section_knows_the_headings_above_it() -> None:
    sections = read_sections("v1\n\n# A\n\ntext\n### C\n## B\n- x\n")

    assert [(s.headings, s.lines, s.line_number) for s in sections] == [
        ((), ("v1", ""), 1),
        (("# A",), ("", "text"), 3),
        (("# A", "### C"), (), 6),
        (("# A", "## B"), ("- x",), 7),
    ]


def test_the_keep_mark_of_a_heading_holds_for_all_below_it() -> None:
    sections = read_sections("# A <!-- keep -->\n## B\n# C\n")

    assert [section.is_kept for section in sections] == [False, True, True, False]


@given(st.lists(LINES))
def test_rendering_gives_the_text_back(lines: list[str]) -> None:
    text = "\n".join(lines).rstrip("\n")
    wanted = text + "\n" if text else ""

    assert render_sections(read_sections(wanted)) == wanted
