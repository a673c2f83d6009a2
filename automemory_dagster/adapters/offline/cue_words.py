"""The words by which a person's sentence shows what it asks for, by language.

English, Chinese and Japanese in some depth; of German, French, Spanish, Italian, Portuguese and
Korean only the commonest words for lasting wishes. ``cues`` says which pattern wins.
"""

import re


def either(*parts: str) -> re.Pattern[str]:
    """One pattern that matches what any of the parts matches, ASCII case ignored."""
    return re.compile("|".join(f"(?:{part})" for part in parts), re.IGNORECASE)


# Where an order may stand in an English sentence: "always" elsewhere describes ("it always fails").
_ORDER = (
    r"(?:^|[,;:.!—–]\s*|\s-\s|\b(?:and|but|please|you|we|i|must|should|to|said|so|or|is|are)\s+)"
)
_NO_ORDER = (
    r"(?!\s+(?:mind|with (?:the|an?|this)|the same|when|on|after|at|got|saw|had|was|were|did"
    r"|fails?|works?|\w+ed)\b)"
)

STANDING = either(
    r"\b(?:from now on|from here on|going forward|henceforth|in (?:the )?future|every time)\b",
    r"\b(?:each time|by default|as a (?:general )?rule|keep in mind|next time|no more \w+)\b",
    r"\bplease remember\b|^(?:\W*\w+[,:]\s*)?remember\b(?! when)",
    r"\b(?:i|we)(?:'d| would)? (?:strongly |really |generally )?(?:prefer|insist|dislike|hate)\b",
    r"^prefer\b|\bmy preference\b|\bmake (?:it|that|this) a (?:habit|rule)\b",
    rf"{_ORDER}(?:always|never)\b{_NO_ORDER}|\b(?:don't|do not) (?:you )?ever\b",
    r"\b(?:we|i) (?:only|don't|do not) (?:use|do|write|want|commit|push|merge|like)\b",
    r"\b(?:before|after|on|for|with) (?:each|every|any)\b",
    r"\b(?:before|after) (?:an? |you |we )?(?:releas|commit|merg|push|deploy|pull request)\w*",
    r"^(?:\W*\w+[,:]\s*)?whenever\b|\bwhenever you\b",
    r"\b(?:our|the) (?:convention|policy|rule|standard|style)(?: here)? is\b",
    r"以后|从现在起|从现在开始|从今|今后|总是|始终|一律|永远|每次|记住|请记得|默认|绝不",
    r"绝对不|优先用|统一用|我(?:们)?(?:更)?(?:喜欢|习惯|偏好|倾向)|凡是|任何时候",
    r"必ず|常に|今後|これから(?:は|の|も)|以後|毎回|いつも|絶対に|決して|原則|デフォルトで",
    r"既定で|覚えて(?:おいて)?|の(?:ほう|方)が(?:好|い|良)|次回から",
    r"\b(?:ab jetzt|ab sofort|immer|niemals|künftig|désormais|toujours|jamais|dorénavant)\b",
    r"\b(?:a partir de ahora|siempre|nunca|d'ora in poi|sempre|de agora em diante)\b",
    r"앞으로|항상|절대|반드시|매번",
)

PROHIBITION = either(
    r"(?:^|[,;:.!—–]\s*|\b(?:please|and|but|you|so|said)\s+)(?:do not|don't|dont|mustn't)\b",
    r"\bmust not\b",
    r"(?:^|[,;:.!—–]\s*|\b(?:please|you)\s+)(?:should not|shouldn't|stop|avoid|no longer)\b",
    r"^(?:no|not)\b[^?]*[,;:]\s*(?:use|do|only|it|the|we|i)\b",
    r"\b(?:instead of|rather than)\b|,\s*not (?!sure\b|only\b)\w+",
    r"^only\b|\bonly (?:use|look|touch|change|edit|run|in|ever)\b",
    r"不要|不能|不准|不许|禁止|不得|请勿|勿|别(?!的|人|处|名|针)|不用再|改用|而不是",
    r"只(?:用|能|要|看|在|改)",
    r"ないで|するな|しないように|ないように|禁止|やめて|ではなく|じゃなく|代わりに",
    r"(?:だけ|のみ)(?:に|を|で|見)",
    r"\b(?:bitte (?:nicht|kein)|nicht mehr|ne (?:\w+) pas|no (?:uses|hagas|toques))\b|하지 ?마",
)

_SHAPED = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|reports?|tables?|summaries|commits"
    r"|commit messages?|messages|comments|docstrings|branch(?:es| names)|names|titles|output)"
)
_SHAPE = (
    r"(?:markdown|json|yaml|csv|bullets?|bullet points|lines?|words?|rows?|sentences?|paragraphs?"
    r"|short|brief|concise|terse|polite|formal|informal|plain|english|german|french|spanish"
    r"|chinese|japanese|korean|italian|portuguese|lower[- ]?case|upper[- ]?case|kebab-case"
    r"|snake_case|emojis?|imperative|past tense|conventional commits)"
)
STYLE = either(
    rf"^(?!.*\b(?:a|an|this|that|of the)\s+{_SHAPED}\b).*\b{_SHAPED}\b.*\b{_SHAPE}\b",
    rf"^(?:please )?(?:answer|reply|respond|write to me|talk to me|speak|explain)\b.*\b{_SHAPE}\b",
    rf"^(?:please )?keep (?:it|them|your \w+)\b.*\b{_SHAPE}\b",
    r"(?:用|以|使用)\s*(?:中文|英文|英语|日文|日语|繁体|简体)\S{0,4}(?:回答|回复|写|说|输出)?",
    r"(?:回答|回复|提交信息|提交说明|注释|输出|报告|表格|文档)\S{0,8}(?:用|简短|简洁|不超过)",
    r"(?:回答|回复|输出|报告|表格)\S{0,8}(?:控制在|最多|以内)",
    r"(?:日本語|英語|中国語|敬語|丁寧語)で|です・ます",
    r"(?:返事|返信|回答|答え|説明|コメント|コミットメッセージ|表|出力)\S{0,10}(?:以内|短く|簡潔)",
    r"(?:返事|返信|回答|答え|説明|コメント|コミットメッセージ)\S{0,10}(?:丁寧|で(?:お願|書|答)|調で)",
)

VALUE_CHANGE = either(
    r"\b(?:is|are)\b[^,]*\bnow\b|\bnow, not\b",
    r"现在(?:是|改用)|改回|定为",
    r"に(?:変更|変わり|変え|戻)",
)
DECISION = either(
    r"\b(?:decided|decision|i choose|is gone|are gone|no longer|then no)\b",
    r"\b(?:we(?:'ll| will| are going to)|let's) (?:use|keep|go|stay|stick|drop|switch)\b",
    r"\bgo with\b|\bstick (?:to|with)\b|\bgo(?:es)? back to\b|\bswitch(?:ed|ing)? (?:back )?to\b",
    r"\bkeep (?:the|it)\b",
    r"决定|就用|改成|改为|换成|保留|采用|还是用|我选|选择",
    r"に(?:します|しましょう|決め)|のままで|採用",
    r"\b(?:wir nehmen|entschieden|on garde|décidé|decidimos)\b",
)

RULES_FOLLOW = either(
    r"\b(?:rules?|conventions?|guidelines?|preferences|standards|remember|keep in mind)\b.*:$",
    r"(?:规则|规范|约定|要求|记住).*[:：]$|(?:ルール|規約|約束|覚えて).*[:：]$",
)
"""A sentence that makes standing rules of the list after it."""
REQUIREMENTS_FOLLOW = either(
    r"\b(?:constraints?|requirements?|acceptance criteria|must)\b.*:$",
    r"(?:限制|条件|需求).*[:：]$|(?:制約|要件).*[:：]$",
)
"""A sentence that makes requirements of the list after it."""

REQUIREMENT = either(
    r"\b(?:must|should|shall|has to|have to|needs? to|ought to|at most|at least|no more than)\b",
    r"\b(?:exactly|maximum|minimum|up to|within)\b|#[0-9a-f]{6}\b",
    r"\d+(?:[.,]\d+)?\s?(?:%|percent\b|eur\b|usd\b|ms\b|seconds?\b|minutes?\b|days?\b|[mkg]b\b)",
    r"必须|务必|应该|应当|至少|最多|不超过|以内|上限|下限",
    r"なければ|べき|必要が|以内|以上|以下|まで(?:に)",
)

CORRECTION = either(
    r"^\W*(?:no|nope|stop|wrong|wait|undo|revert|actually|instead)\b"
    r"(?!\s+(?:need|problem|worries))",
    r"^\W*(?:not|don't|do not) \w+|^\W*then no\b",
    r"\b(?:i said|i told you|i asked|as i said|you should have|you forgot|again you)\b",
    r"\b(?:that's not|that is not|not what i)\b",
    r"^\W*(?:不对|不是|错了|不行|停|别|我说过|我说的|你又|你忘)",
    r"^\W*(?:違う|違い|いや|いいえ|そうじゃな|そうではな|やめて|ちがう|待って|だめ)",
    r"^\W*(?:nein|halt|falsch|non|arrête|아니)\b",
)

SMALL_TALK = re.compile(
    r"\W*(?:(?:ok(?:ay)?|good(?: (?:job|work|catch|morning|evening))?|great|perfect|nice|cool|fine"
    r"|right|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|yes|yep|yeah|sure|hi|hello|hey|bye"
    r"|lgtm|looks good|well done|awesome|excellent|understood|got it|please|you too|cheers"
    r"|exactly|correct|you know the drill[^.]*|很好|好的?|谢谢|多谢|不错|对|是的?|嗯|可以|你好"
    r"|辛苦了|明白|ありがとう(?:ございます|ございました)?|はい|いいね|良い|了解(?:です)?"
    r"|お疲れ様(?:です|でした)?|こんにちは|danke|merci|gracias|고마워|감사합니다)\W*)+",
    re.IGNORECASE,
)

QUESTION = either(
    r"[?？]\s*$",
    r"(?:吗|呢|么|什么|多少|怎么|为什么|哪)[。.]?$|^(?:为什么|怎么|什么)",
    r"(?:ですか|ますか|でしょうか|のか|かな)[。.]?$",
)

PASSING = either(
    r"\b(?:tomorrow|today|tonight|this (?:afternoon|evening|week)|next (?:week|month|monday))\b",
    r"\b(?:right now|in an hour|at the moment|yesterday)\b",
    r"明天|今天|今晚|下周|马上|昨天|明日|今日|今夜|来週|昨日",
)
RELATIVE_TIME = either(
    PASSING.pattern,
    r"\b(?:this morning|last (?:week|month|night)|recently|just now|now)\b",
    r"刚才|现在|今朝|先週|さっき",
)

SYMPTOM = either(
    r"\b(?:fail(?:s|ed|ing)?|red|broken|wrong|errors?|crash(?:es|ed)?|slow|bug|flaky|hangs?)\b",
    r"\b(?:didn't|did not)\b",
    r"\b(?:exits?|prints?|(?:does|do)(?: not|n't) work|not working|stuck|timeouts?)\b",
    r"失败|报错|错误|崩溃|不工作|有问题|坏了",
    r"落ち|失敗|エラー|動かな|動きません|おかしい|壊れ|バグ",
)

FINITE_VERB = either(
    r"\b(?:is|are|was|were|has|have|had|can|cannot|can't|will|won't|means|comes?|needs?|uses?)\b",
    r"\b(?:holds?|lives?|belongs?|contains?|runs?|breaks?|broke|skips?|leaves?|changed)\b",
    r"\b(?:replaced|moved|renamed|dropped|removed|added|does|doesn't|do|don't|stores?)\b",
    r"\b(?:returns?|expects?|requires?|supports?|starts?|ends?|takes?|gives?|writes?|reads?)\b",
    r"\b(?:sends?|stays?|works?|owns?|deploys?|builds?)\b",
    r"(?:^|[:,] )(?:the|our|this|each|every|an?) [\w.-]+ [a-z]{3,}s\b",
)
IMPERATIVE = re.compile(
    r"^\W*(?:(?:please|now|then|also|and|so|first|next|ok(?:ay)?|good|great|right|yes|you can"
    r"|can you|could you|would you|let's|lets|just|go ahead and"
    r"|i (?:want|need|would like) you to)\b[,:]?\s*)*"
    r"(?:add|adjust|ask|audit|build|bump|bring|call|change|check|clean|close|commit|compare"
    r"|configure|continue|convert|copy|count|create|debug|delete|deploy|describe|do|document"
    r"|draft|drop|edit|enable|disable|explain|export|extract|figure|find|finish|fix|format"
    r"|generate|get|give|go|handle|have a look|help|implement|import|improve|include|insert"
    r"|inspect|install|investigate|keep|leave|list|look|make|merge|migrate|move|open|optimi[sz]e"
    r"|print|push|put|read|rebase|refactor|release|remove|rename|repeat|replace|reproduce|reset"
    r"|resolve|restart|review|revert|rewrite|roll|run|save|search|see|send|set|show|simplify"
    r"|skip|sort|split|squash|start|sum|summari[sz]e|switch|take|tell|test|translate|try|turn"
    r"|undo|update|upgrade|use|verify|wire|work|wrap|write)\b",
    re.IGNORECASE,
)
CJK_REQUEST = either(
    r"^(?:现在|先|然后|再|那|就)*(?:请|帮|给|把|将|加|改|修|写|跑|运行|提交|测试|检查|删|更新)",
    r"^(?:现在|先|然后|再|那|就)*(?:看|查|翻译|继续|做|生成|重构|实现)|吧[。!！]*$",
    r"(?:て(?:ください|下さい|くれ|ほしい)?|てね|お願いします|して)[。!！]*$",
)
CJK_FACT = either(
    r"[是为有在叫]|已经|改到|使用的",
    r"(?:です|ます|でした|ました|である|だ)[。!！]*$",
)
SELF_DESCRIPTION = either(
    r"\bmy (?:name|team|role|job|time ?zone|editor|shell|os|machine|laptop|company)\b",
    r"\b(?:i am an?|i'm an?|we are an?|i work (?:as|at|on|with|for))\b",
    r"我(?:是一|叫|在.{1,12}工作)|我们(?:团队|公司|组)|(?:私|僕|俺)は|うちの(?:チーム|会社)",
)
