"""The words by which an agent's sentence shows a cause, a rule, a change, or only a status."""

import re

from automemory_dagster.adapters.offline.cue_words import either

CAUSE = either(
    r"\b(?:because|since|due to|caused?|root cause|reason|problem was|bug|race|leak\w*)\b",
    r"\bso (?:it|that|the|\w+ \w+)\b|\b(?:truncat\w+|drift\w*|shows?)\b",
    r"\b(?:was|were) (?:not|missing|wrong|never)\b",
    r"\b(?:weil|denn|parce que|car|porque)\b|原因|因为|由于|导致|所以|ため|ので|から",
)
RULE = either(
    r"\b(?:only|always|never|must|has to|have to|requires?|needs?|refuses?|unless|supports?)\b",
    r"\b(?:expects?|instead of|rather than|no longer|cannot|can't|can be|means|breaks?)\b",
    r"\b(?:rejected|stays?|still|belongs?|once)\b",
    r"必须|只能|不能|需要|必要|だけ|のみ|できません",
)
CHANGE = either(
    r"\b(?:now|changed|replaced|uses?|used|moved|renamed|removed|added|fixed|applied|found)\b",
    r"->|→|现在|改为|改成|加入|修复|追加|直し|変更|修正",
)
TECHNICAL = re.compile(
    r"`[^`]+`|\b[\w-]+(?:/[\w.-]+)+|\b\w+\.[a-z]{1,4}\b|\b\w+\(\)|\b[a-z]+_[a-z_]+\b"
    r"|\s--?[a-z][\w-]+|#[0-9a-f]{6}|\b[A-Z][A-Z0-9_]{2,}\b|\b\w+=\w+|[°→]"
)
VALUE = either(
    r"\b(?:is|are|at|to|=)\s+(?:now\s+)?#?\d",
    r"\d\s?(?:%|cents?|eur|ms|s)\b",
)
STATUS = either(
    r"(?:\btests?\b|\bchecks?\b|`[^`]+`|\bsuite\b)[^.;]* (?:pass(?:es|ed)?|works?|green)\b",
    r"(?:`[^`]+`)[^.;]* is there\b",
    r"^`[^`]+`: \d+ passed|^\W*green\b|テストは.*通|全て通|コミットしました",
)
"""Progress, not knowledge: the checks themselves are kept as commands."""
UNABLE = either(
    r"\b(?:i|we) (?:cannot|can't)\b|\b(?:could ?n[o']t|could not|unable|unsolved|gave up)\b",
    r"\bnot (?:verified|tested|compiled|possible|available|installed|reachable)\b",
    r"\b(?:still fails?|did not work)\b",
    r"无法|没能|未能|没有网络|できません|できなかった|失敗しました",
)
RECOMMENDS = either(
    r"^\W*(?:please|you (?:should|could|may want to)|i (?:recommend|suggest)|consider)\b",
    r"^\W*(?:raise|lower|increase|decrease|set|use|add|remove|change|upgrade|rotate|rename)\s",
    r"^\W*(?:move|switch|replace|pin|enable|disable|install|run|split|restart)\s",
    r"^建议|ことをお勧め",
)
LEANS_BACK = either(
    r"^\W*(?:it|that|this|these|those|they|both|the rest|quoted|otherwise)\b",
    r"^\W*(?:i|we) \w+ (?:it|them|that|this|those)\b",
    r"^(?:它|这|那|それ|これ)",
)
ASKS_FOR_MOMENT = either(
    r"\bhow (?:many|much|long|old|big)\b|\bwhat time\b|\b(?:what|which) day\b|\blatest\b",
    r"\bwhat is the (?:weather|time|date)\b|\b(?:right now|currently|(?:in )?stock|status of)\b",
    r"多少|几个|几点|库存|现在.{0,6}吗|いくつ|いくら|何時|何件|在庫|天気は",
)
"""Questions whose answer is a number of that moment."""
OF_THE_MOMENT = either(
    r"\b(?:on hand|in stock|out of stock|sold out|currently|right now|at the moment|today)\b",
    r"\b(?:as of (?:now|today)|so far|uptime|degrees)\b|库存|目前|现在有|在庫|現在",
)
