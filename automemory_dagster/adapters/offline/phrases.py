"""Turns of phrase that are cut off or left out: lead-ins, acknowledgements, progress chatter."""

import re

from automemory_dagster.adapters.offline.text import (
    content_tokens,
    sentences,
    without_trailing_stop,
    word_set,
)

_LEAD_IN = re.compile(
    r"^\W*(?:"
    # Words that lead in only before a mark: "Stop: use X", but not "Stop using X".
    r"(?:(?:ok(?:ay)?|good|great|perfect|right|fine|nice|yes|no|stop|wait|thanks|thank you|well"
    r"|then|one more(?: thing)?|another thing|note|important|remember|you should have known"
    r"|(?:in|for) (?:this|our|my) (?:repo(?:sitory)?|project|codebase|workspace))\s*[,:;.!—–]+\s*)"
    r"|(?:(?:so|and|but|also|please|by the way|btw|remember that|from now on|from here on"
    r"|going forward|in (?:the )?future|henceforth|i said|the team decided(?: that)?"
    r"|we decided(?: that)?)\b[\s,:;.!—–]*))+",
    re.IGNORECASE,
)
_CJK_LEAD_IN = re.compile(
    r"^(?:(?:很好|好的?|不对|不行|不是|对了|另外|还有|谢谢|そうです|はい|いいえ|いや|では|あと"
    r"|ありがとう(?:ございます)?)[\s、。,，.!！👍🙂😀:：]+|以后|今后|从现在起|从现在开始|请记住|记住|请"
    r"|これから(?:は|の|も)?|今後(?:は|の|も)?|以後(?:は)?|次回から(?:は)?)+[\s、,，:：]*"
)
_ACKNOWLEDGED = re.compile(
    r"^\W*(?:understood|noted|will do|agreed|ok(?:ay)?|got it|sure|right|of course|certainly"
    r"|absolutely|acknowledged|明白了?|好的|收到|知道了|了解(?:です|しました)?|承知(?:いた)?しました"
    r"|わかりました|分かりました|かしこまりました)(?![A-Za-z])[\s,:;.!。！、，：—–-]*",
    re.IGNORECASE,
)
_COMMITMENT = re.compile(
    r"\b(?:from now on|going forward|i(?:'ll| will| won't)|will (?:have|use|be))\b"
    r"|\bin (?:the )?future\b"
    r"|以后|今后|今後|これから|お答えします",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"^\W*(?:i(?:'ll| will)|i am going to|i'm going to)\s+(?:now\s+|always\s+)?", re.IGNORECASE
)
_OFFER = re.compile(
    r"^\W*(?:let me know|would you|do you want|shall i|should i|if you (?:want|like|need)"
    r"|i can (?:also )?|you are welcome|you're welcome|happy to|here (?:is|are)\b|next(?: steps?)?:"
    r"|progress:|summary:|committed(?:\b|$)|pushed\b|sorry\b|apologies|user wants"
    r"|i (?:will|'ll|am going to)\b|如果需要|需要我|已提交|不客气|コミットしました|他に)",
    re.IGNORECASE,
)
_CJK_CHATTER = re.compile(
    r"\W*(?:直しました|修正しました|完了(?:しました)?|追加しました|コミットしました|対応しました"
    r"|已(?:经)?(?:完成|修复|提交|修改|更新|添加)|完成了?|搞定|好了|测试(?:全部|都)?通过)\W*"
)
_CHATTER_TAIL = re.compile(
    r"\s*[;,]\s*(?:and\s+)?(?:(?:the change|it|this|that) (?:is|was|has been) )?(?:now )?"
    r"(?:committed|pushed|done|ready)(?: (?:now|as .*))?\.?$",
    re.IGNORECASE,
)
_CHATTER_WORDS = word_set(
    "all both the tests test pass passes passed passing green done fixed committed commit left "
    "pushed reverted applied everything works work ready clean checks check build builds ok "
    "success lint successfully agreed noted understood welcome nothing changed i it is still "
    "yes no updated added removed here there finished complete completed file files renamed"
)


def without_lead_in(sentence: str) -> str:
    """The sentence without greetings, conjunctions and words like "from now on" before its core."""
    core = _CJK_LEAD_IN.sub("", _LEAD_IN.sub("", sentence))
    return without_trailing_stop(core if re.search(r"\w", core) else sentence)


def acknowledgement(final: str) -> str:
    """What an agent's answer promises to do from now on, without the nod; empty for no promise.

    An agent's nod proves nothing alone: it only words what a person asked for in the same turn.
    """
    parts = sentences(final)
    if not _ACKNOWLEDGED.match(final):
        parts = tuple(part for part in parts if _COMMITMENT.search(part))
    kept = (part for part in parts if not says_nothing(_ACKNOWLEDGED.sub("", part, count=1)))
    return _ACKNOWLEDGED.sub("", " ".join(kept), count=1).strip()


def is_acknowledgement(sentence: str) -> bool:
    """True for a nod or a promise of the agent, which is never a finding."""
    return bool(_ACKNOWLEDGED.match(sentence) and len(sentence) < 60) or bool(
        _COMMITMENT.search(sentence)
    )


def is_commitment(text: str) -> bool:
    """True when the agent binds itself for later, beyond a nod."""
    return bool(_COMMITMENT.search(text))


def without_promise(clause: str) -> str:
    """A promise as a plain instruction: ``I will use uv`` becomes ``use uv``."""
    return without_trailing_stop(_PROMISE.sub("", clause))


def is_chatter(sentence: str) -> bool:
    """True when an agent's sentence reports progress or offers help and teaches nothing."""
    return bool(_OFFER.search(sentence)) or says_nothing(sentence)


def says_nothing(sentence: str) -> bool:
    """True when all its words are those of progress reports: done, committed, tests pass."""
    is_report = bool(_CJK_CHATTER.fullmatch(sentence))
    return is_report or not content_tokens(sentence) - _CHATTER_WORDS


def without_chatter_tail(sentence: str) -> str:
    """The sentence without a closing clause that only says that it was committed or done."""
    return _CHATTER_TAIL.sub("", sentence)
