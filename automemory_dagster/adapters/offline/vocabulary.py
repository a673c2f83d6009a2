"""Word lists that ``meaning`` reads statements with: English, Chinese, Japanese. All lower case."""

import re

STOP_WORDS = frozenset(
    """
    a an and any are as at be been before but by can could did do does doing done each every for
    from had has have he her his how i if in into is it its just know let me more my need no not
    now of on one only or our out over please said say says shall she should so some than that
    the their them then there these they this to too up us use used user uses using want wanted
    wants was we were what when where which who will with without would you your always never
    known asked ask tell told working work also again back go goes going here instead longer
    must gone eur euro euros usd cent cents percent
    した する です ます こと から ので には では とは 以后 现在 使用 我们 这个
    """.split()  # noqa: SIM905
)

LANGUAGES = {
    "english": "english",
    "英文": "english",
    "英语": "english",
    "英語": "english",
    "chinese": "chinese",
    "中文": "chinese",
    "汉语": "chinese",
    "中国語": "chinese",
    "japanese": "japanese",
    "日文": "japanese",
    "日语": "japanese",
    "日本語": "japanese",
    "german": "german",
    "french": "french",
    "spanish": "spanish",
    "korean": "korean",
}

FAMILIES = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "node-packages"),
    **dict.fromkeys(
        ("pip", "pip3", "uv", "poetry", "pipenv", "conda", "pdm", "rye"), "python-packages"
    ),
    **dict.fromkeys(("make", "just", "invoke", "rake", "gmake"), "task-runner"),
    **dict.fromkeys(("pytest", "unittest", "nose"), "python-tests"),
    **dict.fromkeys(("jest", "vitest", "mocha"), "js-tests"),
    **dict.fromkeys(("black", "autopep8", "yapf"), "python-format"),
    **dict.fromkeys(("flake8", "pylint", "ruff"), "python-lint"),
    **dict.fromkeys(("docker", "podman", "nerdctl"), "containers"),
    **dict.fromkeys(("tabs", "spaces"), "indent"),
    **dict.fromkeys(("celsius", "fahrenheit", "kelvin"), "temperature"),
    **dict.fromkeys(("decimal", "float"), "amount-type"),
    **dict.fromkeys(("rebase", "merge", "squash"), "git-join"),
}
"""Things of which a project usually uses one: naming another one is another value."""

VERB_LIKE_TOOLS = frozenset(
    {"make", "just", "invoke", "black", "rake", "merge", "squash", "spaces"}
)
"""Also everyday words: in prose they name the tool only where a clause retires them by name."""

CONCEPTS = (
    (
        re.compile(
            r"\bcommits? messages?\b|\bmessages? (?:of|for) (?:the )?commits?\b"
            r"|\bconventional commits\b|提交信息|提交说明|コミットメッセージ"
        ),
        "commit message",
    ),
    (
        re.compile(
            r"\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?))\b|回答|回复|返信|返事|答え(?:て)?"
        ),
        "answer",
    ),
    (re.compile(r"\b(?:code )?comments?\b|注释|コメント"), "comment"),
    (re.compile(r"\bbranch names?\b|分支名|ブランチ名"), "branch name"),
    (
        re.compile(
            r"\b(?:cap(?:ped)?|at most|maximum|max|upper limit|no more than)\b"
            r"|上限|最多|不超过|以内"
        ),
        "cap",
    ),
    (re.compile(r"\b(?:at least|minimum|lower limit)\b|下限|至少|以上"), "floor"),
    (re.compile(r"\b(?:tests?|testing)\b|测试|テスト"), "test"),
    (re.compile(r"\blint(?:er|ing)?\b"), "lint"),
)
"""Words of several languages, or several words, for one subject."""

_TARGET = (
    r"(?P<target>`[^`]+`|\$?\d[\d.,]*(?:\s?(?:%|percent|cents?|eur|usd))?|#[0-9a-f]{6}|[\w.+-]+)"
)
_LATIN_TARGET = (
    r"(?P<target>`[^`]+`|\d[\d.,]*|[a-z0-9_.+-]+|中文|英文|英语|日文|日语|英語|日本語|中国語)"
)
_FILLER = r"(?:(?:use|using|run|running|the|a|an|any|to|with|in|by|just|call)\s+)*"

# "Could not run it" reports; "do not run it" forbids.
_REPORTS = "".join(
    rf"(?<!\b{word} )"
    for word in ("could", "can", "did", "does", "was", "is", "are", "were", "would", "has", "have")
)

RETIREMENTS = (
    re.compile(
        rf"\b(?:never(?: again)?|{_REPORTS}not|no longer|no more|instead of|rather than|don't|stop"
        rf"|drop|dropped|replaces?|replaced|supersedes?|was|without)\s+{_FILLER}{_TARGET}"
    ),
    re.compile(rf"(?:不再|不要|别|勿|禁止|而不是|不是)\s*(?:使用|用|跑|运行)?\s*{_LATIN_TARGET}"),
    re.compile(rf"{_LATIN_TARGET}\s*(?:の代わりに|ではなく|じゃなく|はやめ|は使わ|を使わない)"),
)
"""How a clause takes something back; the group ``target`` is what it takes back."""

DEPARTURES = (
    re.compile(
        rf"{_TARGET}(?: target)?\s+(?:is|are|was|were|has been|have been)\s+"
        r"(?:now )?(?:gone|removed|replaced|dropped|deprecated|retired|wrong|obsolete|no longer)\b"
    ),
    re.compile(rf"{_TARGET}\s+no longer (?:exists?|works?)\b"),
    re.compile(rf"{_LATIN_TARGET}\s*(?:已经|已)?(?:没了|不用了|废弃|弃用|删除|作废)"),
    re.compile(rf"{_LATIN_TARGET}\s*は(?:廃止|削除|なくなり)"),
)
"""How a clause says that something is there no more: a fact, whoever reports it."""

SUPERSESSION = re.compile(
    r"\b(?:from now on|instead of|no longer|(?:is|are) gone"
    r"|(?:go(?:es)?|back|switch(?:ed)?|chang(?:ed?|ing)|mov(?:ed?|ing)) (?:back )?to"
    r"|(?:is|are) now|now(?=,)|replac(?:e|es|ed)|supersedes?|as of)\b"
    r"|从现在起|从现在开始|以后|今后|不再|改用|改为|改成|改回|换成"
    r"|今後|これから|代わりに|に変更|に変え|に戻|次回から"
)
"""Words that say that something changes."""
