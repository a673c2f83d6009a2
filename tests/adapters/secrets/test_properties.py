"""What holds for every text: no exception, the same answer twice, findings inside the text."""

import random

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.secrets import find_secrets, make_redactor, redact, redact_values
from tests.adapters.secrets.families import FAMILIES
from tests.adapters.secrets.surroundings import SURROUNDINGS

_ANY = st.characters(codec=None, categories=None)
_CRUMBS = st.sampled_from(
    [
        "password",
        "token",
        "api_key",
        "密码",
        "是",
        "=",
        ":",
        " ",
        "\n",
        "\\n",
        '"',
        '\\"',
        "'",
        "[REDACTED:token]",
        "[REDACTED",
        "]",
        "Bearer ",
        "Authorization: ",
        "Cookie: sid=",
        "://",
        "@",
        "user:",
        "--secret ",
        "sk-",
        "ghp" + "_",
        "AKIA",
        "eyJ",
        ".",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "abc123DEF456ghi789",
        "\ud800",
        "\udfff",
        "\x00",
        "\x1b[32m",
        "密",
        "🔑",
        "{",
        "}",
        "[",
        "(",
        ",",
        ";",
        "&",
        "|",
        ">",
        "<",
        "$",
        "`",
        "0a1b2c3d" * 5,
        "curl -u a:",
        "export ",
        "value",
        " is ",
        "- name: ",
        "xoxb-",
        "+",
        "%20",
        "\\u003d",
        "$2b$10$",
        "MTA",
        "echo ",
    ]
)
_TEXTS = st.one_of(
    st.text(_ANY, max_size=200),
    st.lists(st.one_of(_CRUMBS, st.text(_ANY, max_size=6)), max_size=30).map("".join),
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.one_of(_TEXTS, st.sampled_from(["password", "token", "x"])), inner, max_size=4
        )
    ),
    max_leaves=12,
)
_SETTINGS = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_SETTINGS
@given(_TEXTS)
@example("password=\ud800\udc00\x00abc123")
@example("密码是\udfff abc12345")
def test_redaction_never_raises_and_is_idempotent(text: str) -> None:
    once = redact(text)

    assert redact(once) == once
    assert find_secrets(once) == []


@_SETTINGS
@given(_TEXTS)
def test_the_other_settings_are_idempotent_too(text: str) -> None:
    strict = make_redactor(plain_markers=True, redact_personal=True)

    once = strict(text)

    assert strict(once) == once


@_SETTINGS
@given(_TEXTS)
def test_findings_are_ordered_disjoint_and_inside_the_text(text: str) -> None:
    findings = find_secrets(text)

    edges = [edge for finding in findings for edge in (finding.start, finding.end)]
    assert edges == sorted(edges)
    assert all(0 <= f.start < f.end <= len(text) for f in findings)


@_SETTINGS
@given(_JSON)
def test_values_of_any_structure_are_redacted_once_and_for_all(value: object) -> None:
    once = redact_values(value)

    assert repr(redact_values(once)) == repr(once)


@_SETTINGS
@given(
    st.sampled_from(FAMILIES),
    st.sampled_from(SURROUNDINGS),
    st.integers(0, 10**6),
    st.text(_ANY, max_size=30),
)
def test_no_planted_secret_survives_unrelated_text_around_it(
    family, surrounding, seed, noise
) -> None:  # type: ignore[no-untyped-def]
    if surrounding.needs_shape and not family.has_shape:
        return
    before, value, after = surrounding.text(family, family.make(random.Random(seed)))

    redacted = redact(f"{noise}\n{before}{value}{after}\n{noise}")

    assert value not in redacted
