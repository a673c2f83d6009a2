"""What a person's sentence asks for: a standing rule, a correction, a decision, a fact, or small talk.

Cues are words of English, Chinese and Japanese, with the commonest of a few other languages. They
decide on one sentence; whoever calls knows the turn around it.

The trap: "always" and "must" also describe symptoms ("it always fails") and requirements. Only
positions in which people give orders count as standing rules.
"""

import re
from enum import IntEnum


class Cue(IntEnum):
    """The kind of a person's sentence; a higher one is a stronger sign of a lasting wish."""

    NONE = 0
    SMALL_TALK = 1
    QUESTION = 2
    REQUEST = 3
    FACT = 4
    REQUIREMENT = 5
    """How a thing must be: a number, a limit, a must."""
    DECISION = 6
    PROHIBITION = 7
    """What must not be done, without a word that says for how long."""
    STYLE = 8
    """How answers, messages and the like shall be."""
    STANDING = 9
    """From now on, always, never, prefer, remember."""


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{part})" for part in parts), re.IGNORECASE)


_ORDER = r"(?:^|[,;:.!—–\-]\s*|\b(?:and|but|please|you|we|i|must|should|to|said|so|or|is)\s+)"

_STANDING = _any(
    r"\b(?:from now on|from here on|going forward|henceforth|in (?:the )?future|every time|each time"
    r"|by default|as a (?:general )?rule|keep in mind|for future|next time|no more \w+)\b",
    r"\bplease remember\b|^(?:\W*\w+[,:]\s*)?remember\b(?! when)",
    r"\b(?:i|we)(?:'d| would)? (?:strongly |really |generally )?(?:prefer|insist|dislike|hate)\b"
    r"|^prefer\b|\bmy preference\b",
    rf"{_ORDER}(?:always|never)\b(?!\s+(?:with|the same|when|on|after|at|got|saw|had|was|were|did|"
    r"fails?|works?|\w+ed)\b)",
    r"\b(?:we|i) (?:only|always|never|don't|do not) (?:use|do|write|want|commit|push|merge)\b",
    r"\b(?:before|after|on|for|with) (?:each|every|any)\b",
    r"^(?:\W*\w+[,:]\s*)?whenever\b|\bwhenever you\b",
    r"\bour (?:convention|policy|rule|standard|style)\b|\bthe (?:convention|policy|rule) (?:here )?is\b",
    r"以后|从现在起|从现在开始|从今|今后|总是|始终|一律|永远|每次|记住|请记得|默认|绝不|绝对不|优先用|统一用"
    r"|我(?:们)?(?:更)?(?:喜欢|习惯|偏好|倾向)|凡是|任何时候",
    r"必ず|常に|今後|これから(?:は|の|も)|以後|毎回|いつも|絶対に|決して|原則|デフォルトで|既定で|覚えて(?:おいて)?"
    r"|の(?:ほう|方)が(?:好|い|良)|次回から",
    r"\b(?:ab jetzt|ab sofort|immer|niemals|künftig|désormais|toujours|jamais|dorénavant"
    r"|a partir de ahora|siempre|nunca|d'ora in poi|sempre|de agora em diante)\b",
    r"앞으로|항상|절대|반드시|매번",
)

_PROHIBITION = _any(
    r"(?:^|[,;:.!—–]\s*|\b(?:please|and|but|you|so|said)\s+)(?:do not|don't|dont|must not|mustn't|"
    r"should not|shouldn't|stop|avoid|no longer)\b",
    r"^(?:no|not)\b[^?]*[,;:]\s*(?:use|do|only|it|the|we|i)\b",
    r"\b(?:instead of|rather than)\b|,\s*not (?!sure\b|only\b)\w+",
    r"^only\b|\bonly (?:use|look|touch|change|edit|run|in|ever)\b",
    r"不要|不能|不准|不许|禁止|不得|请勿|勿|别(?!的|人|处|名|针)|不用再|(?:只(?:用|能|要|看|在|改))|改用|而不是",
    r"ないで|するな|しないように|ないように|禁止|やめて|ではなく|じゃなく|代わりに|(?:だけ|のみ)(?:に|を|で|見)",
    r"\b(?:bitte (?:nicht|kein)|nicht mehr|ne (?:\w+) pas|no (?:uses|hagas|toques))\b|하지 ?마",
)

_SHAPE_NOUN = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|reports?|tables?|summaries|commit messages?"
    r"|commits|messages|comments|docstrings|branch(?:es| names)|names|titles|output)"
)
_SHAPE = (
    r"(?:markdown|json|yaml|csv|bullets?|bullet points|lines?|words?|rows?|sentences?|paragraphs?"
    r"|short|brief|concise|terse|polite|formal|informal|plain|english|german|french|spanish|chinese"
    r"|japanese|korean|italian|portuguese|lower[- ]?case|upper[- ]?case|kebab-case|snake_case"
    r"|emojis?|imperative|past tense|conventional commits)"
)
_STYLE = _any(
    rf"^(?!.*\b(?:a|an|this|that|of the)\s+{_SHAPE_NOUN}\b).*\b{_SHAPE_NOUN}\b.*\b{_SHAPE}\b",
    rf"^(?:please )?(?:answer|reply|respond|write to me|talk to me|speak|explain|keep (?:it|them|your \w+))"
    rf"\b.*\b{_SHAPE}\b",
    r"(?:用|以|使用)\s*(?:中文|英文|英语|日文|日语|繁体|简体|表格|markdown)\S{0,4}(?:回答|回复|写|说|输出|提交|注释)?"
    r"|(?:回答|回复|提交信息|提交说明|注释|输出|报告|表格|文档)\S{0,8}(?:用|简短|简洁|不超过|控制在|最多|以内)",
    r"(?:日本語|英語|中国語|敬語|丁寧語)で|(?:返事|返信|回答|答え|説明|コメント|コミットメッセージ|表|出力)"
    r"\S{0,10}(?:以内|短く|簡潔|丁寧|で(?:お願い|書|答)|調で)|です・ます",
)

_DECISION = _any(
    r"\b(?:decided|decision|we(?:'ll| will| are going to) (?:use|keep|go|stay|stick|drop|switch)"
    r"|let's (?:use|keep|go with|stay|stick|drop|switch)|go with|stick (?:to|with)|go(?:es)? back to"
    r"|switch(?:ed|ing)? (?:back )?to|keep the|keep it|i choose|is gone|are gone|no longer)\b",
    r"\b(?:is|are) now\b|\bnow, not\b|\bthen no\b",
    r"决定|就用|保留|采用|还是用|改回|改成|改为|换成|定为|选",
    r"に(?:します|しましょう|決め)|のままで|採用|に戻(?:し|す)|に変更|に変え",
    r"\b(?:wir nehmen|entschieden|on garde|décidé|decidimos)\b",
)

_REQUIREMENT = _any(
    r"\b(?:must|should|shall|has to|have to|needs? to|ought to|at most|at least|no more than|exactly"
    r"|maximum|minimum|up to|within)\b",
    r"\d+(?:[.,]\d+)?\s?(?:%|percent\b|eur\b|usd\b|ms\b|seconds?\b|minutes?\b|days?\b|mb\b|kb\b|gb\b)",
    r"#[0-9a-f]{6}\b",
    r"必须|务必|应该|应当|至少|最多|不超过|以内|上限|下限",
    r"なければ|べき|必要が|以内|以上|以下|上限|下限|まで(?:に)",
)

_CORRECTION = _any(
    r"^\W*(?:no|nope|stop|wrong|wait|undo|revert|actually|instead)\b(?!\s+(?:need|problem|worries))",
    r"^\W*(?:not|don't|do not) \w+",
    r"\b(?:i said|i told you|i asked|as i said|you should have|you forgot|again you|that's not|that is not|"
    r"not what i)\b",
    r"^\W*then no\b",
    r"^\W*(?:不对|不是|错了|不行|停|别|我说过|我说的|你又|你忘)",
    r"^\W*(?:違う|違い|いや|いいえ|そうじゃな|そうではな|やめて|ちがう|待って|だめ)",
    r"^\W*(?:nein|halt|falsch|non|arrête|아니)\b",
)

_SMALL_TALK = re.compile(
    r"\W*(?:(?:ok(?:ay)?|good(?: (?:job|work|catch|morning|evening))?|great|perfect|nice|cool|fine|right"
    r"|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|yes|yep|yeah|sure|hi|hello|hey|bye|lgtm"
    r"|looks good|well done|awesome|excellent|understood|got it|please|you too|cheers|exactly|correct"
    r"|很好|好的?|谢谢|多谢|不错|对|是的?|嗯|可以|你好|辛苦了|明白"
    r"|ありがとう(?:ございます|ございました)?|はい|いいね|良い|了解(?:です)?|ok です|お疲れ様(?:です|でした)?|こんにちは"
    r"|danke|merci|gracias|고마워|감사합니다)\W*)+",
    re.IGNORECASE,
)

_QUESTION = _any(
    r"[?？]\s*$",
    r"^\W*(?:what|why|how|where|when|who|which|is|are|does|do(?! not)|did|can|could|would|will|should"
    r"|has|have) (?!you please\b)\w+.*\?$",
    r"(?:吗|呢|么|什么|多少|怎么|为什么|哪)[。.]?$|^(?:为什么|怎么|什么)",
    r"(?:ですか|ますか|でしょうか|のか|かな)[。.]?$",
)

_LATER_THAN_TODAY = _any(
    r"\b(?:tomorrow|today|tonight|this (?:afternoon|evening|week)|next (?:week|month|monday)|right now"
    r"|in an hour|at the moment|yesterday)\b",
    r"明天|今天|今晚|下周|马上|昨天",
    r"明日|今日|今夜|来週|昨日",
)
_RELATIVE_TIME = _any(
    _LATER_THAN_TODAY.pattern,
    r"\b(?:this morning|last (?:week|month|night)|recently|just now|now)\b|刚才|现在|今朝|先週|さっき",
)

_SYMPTOM = _any(
    r"\b(?:fail(?:s|ed|ing)?|red|broken|wrong|errors?|crash(?:es|ed)?|slow|bug|flaky|hangs?|exits?|prints?"
    r"|does(?: not|n't) work|do(?: not|n't) work|not working|stuck|timeouts?)\b",
    r"失败|报错|错误|崩溃|不工作|有问题|坏了",
    r"落ち|失敗|エラー|動かな|動きません|おかしい|壊れ|バグ",
)

_FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|cannot|can't|will|won't|means|comes?|needs?|uses?|holds?"
    r"|lives?|belongs?|contains?|runs?|breaks?|broke|skips?|leaves?|changed|replaced|moved|renamed"
    r"|dropped|removed|added|does|doesn't|do|don't|stores?|returns?|expects?|requires?|supports?"
    r"|starts?|ends?|takes?|gives?|writes?|reads?|sends?|stays?|works?|owns?|deploys?|builds?)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^\W*(?:(?:please|now|then|also|and|so|first|next|ok(?:ay)?|good|great|right|yes|you can|can you"
    r"|could you|would you|let's|lets|just|go ahead and|i (?:want|need|would like) you to)\b[,:]?\s*)*"
    r"(?:add|adjust|ask|audit|build|bump|bring|call|change|check|clean|close|commit|compare|configure"
    r"|continue|convert|copy|count|create|debug|delete|deploy|describe|do|document|draft|drop|edit"
    r"|enable|disable|explain|export|extract|figure|find|finish|fix|format|generate|get|give|go"
    r"|handle|have a look|help|implement|import|improve|include|insert|inspect|install|investigate"
    r"|keep|leave|list|look|make|merge|migrate|move|open|optimi[sz]e|print|push|put|read|rebase"
    r"|refactor|release|remove|rename|repeat|replace|reproduce|reset|resolve|restart|review|revert"
    r"|rewrite|roll|run|save|search|see|send|set|show|simplify|skip|sort|split|squash|start|sum"
    r"|summari[sz]e|switch|take|tell|test|translate|try|turn|undo|update|upgrade|use|verify|wire"
    r"|work|wrap|write)\b",
    re.IGNORECASE,
)
_CJK_REQUEST = _any(
    r"^(?:请|帮|给|把|将|加|改|修|写|跑|运行|提交|测试|检查|删|更新|看|查|翻译|继续)",
    r"(?:て(?:ください|下さい|くれ|ほしい)?|てね|お願いします|して)[。!！]*$",
)
_CJK_FACT = _any(
    r"[是为有在叫]|已经|改到|使用的",
    r"(?:です|ます|でした|ました|である|だ)[。!！]*$",
)
_SELF_DESCRIPTION = _any(
    r"\b(?:my (?:name|team|role|job|time ?zone|editor|shell|os|machine|laptop|company)\b|i (?:am|'m) an?\b"
    r"|i'm an?\b|i work (?:as|at|on|with|for)\b|we are an?\b)",
    r"我(?:是一|叫|在.{1,12}工作)|我们(?:团队|公司|组)|(?:私|僕|俺)は|うちの(?:チーム|会社)",
)


def cue_of(sentence: str) -> Cue:
    """The strongest kind that fits; questions and small talk are never anything else."""
    if _SMALL_TALK.fullmatch(sentence):
        return Cue.SMALL_TALK
    if _QUESTION.search(sentence):
        return Cue.QUESTION
    if _STANDING.search(sentence):
        return Cue.STANDING
    if _STYLE.search(sentence):
        return Cue.STYLE
    if _PROHIBITION.search(sentence):
        return Cue.PROHIBITION
    if _DECISION.search(sentence):
        return Cue.DECISION
    if _REQUIREMENT.search(sentence):
        return Cue.REQUIREMENT
    if _IMPERATIVE.search(sentence) or _CJK_REQUEST.search(sentence):
        return Cue.REQUEST
    return Cue.FACT if is_statement(sentence) else Cue.NONE


def is_statement(sentence: str) -> bool:
    """True when the sentence says how something is."""
    if len(sentence.split()) >= 3 and _FINITE_VERB.search(sentence):
        return True
    return bool(_CJK_FACT.search(sentence)) and len(sentence) >= 6


def is_correction(sentence: str) -> bool:
    """True when the sentence turns against what was done before it."""
    return bool(_CORRECTION.search(sentence))


def is_symptom(sentence: str) -> bool:
    """True when the sentence reports what goes wrong; that is the work's reason, not its lesson."""
    return bool(_SYMPTOM.search(sentence))


def is_passing(sentence: str) -> bool:
    """True when the sentence is about a near day and will mean nothing later."""
    return bool(_LATER_THAN_TODAY.search(sentence))


def has_relative_time(sentence: str) -> bool:
    """True when a later reader needs the date to understand the sentence."""
    return bool(_RELATIVE_TIME.search(sentence))


def is_self_description(sentence: str) -> bool:
    """True when the person says who they are or what they work with."""
    return bool(_SELF_DESCRIPTION.search(sentence))
