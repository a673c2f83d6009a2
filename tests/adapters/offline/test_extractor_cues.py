"""What kind of sentence a person's sentence is, in several languages and near its borders."""

import pytest

from automemory_dagster.adapters.offline.cues import Cue, cue_of

SENTENCES = [
    (Cue.STANDING, "Always run the linter before you push."),
    (Cue.STANDING, "From now on use tabs."),
    (Cue.STANDING, "I prefer small commits."),
    (Cue.STANDING, "Please never touch the generated files."),
    (Cue.STANDING, "We always squash before merging."),
    (Cue.STANDING, "Going forward, name branches feat/<ticket>."),
    (Cue.STANDING, "Remember: the staging database is read-only."),
    (Cue.STANDING, "Don't ever force-push."),
    (Cue.STYLE, "Answer in German please."),
    (Cue.STYLE, "Keep your answers short."),
    (Cue.STYLE, "Commit messages in English, imperative."),
    (Cue.STYLE, "Reports as Markdown tables."),
    (Cue.PROHIBITION, "Don't edit the lockfile."),
    (Cue.PROHIBITION, "Use httpx instead of requests."),
    (Cue.PROHIBITION, "Use spaces, not tabs."),
    (Cue.DECISION, "We decided to drop Python 3.9."),
    (Cue.DECISION, "Let's go with option B."),
    (Cue.DECISION, "The default port is 8081 now."),
    (Cue.DECISION, "The API is v2 now, not v1."),
    (Cue.REQUIREMENT, "The timeout must be 30 seconds."),
    (Cue.REQUIREMENT, "Discounts are at most 20 %."),
    (Cue.REQUEST, "Fix the failing test."),
    (Cue.REQUEST, "Can you please add a flag --json."),
    (Cue.REQUEST, "Write a summary in Markdown."),
    (Cue.FACT, "Our users are on Windows mostly."),
    (Cue.FACT, "The staging server runs Debian 12."),
    (Cue.QUESTION, "Why does it always fail?"),
    (Cue.QUESTION, "Should we never retry?"),
    (Cue.SMALL_TALK, "Thanks a lot!"),
    (Cue.SMALL_TALK, "ok great"),
    (Cue.SMALL_TALK, "很好,谢谢!"),
    (Cue.SMALL_TALK, "ありがとうございます!"),
    (Cue.STANDING, "以后都用 pnpm。"),
    (Cue.STANDING, "请记住:不要提交到 main。"),
    (Cue.STANDING, "我更喜欢简短的回答。"),
    (Cue.STYLE, "请用中文回答。"),
    (Cue.STYLE, "提交信息用英文写。"),
    (Cue.PROHIBITION, "不要修改 vendor 目录。"),
    (Cue.PROHIBITION, "改用 poetry。"),
    (Cue.REQUIREMENT, "超时必须是 30 秒。"),
    (Cue.REQUEST, "帮我修复登录问题。"),
    (Cue.QUESTION, "这样可以吗"),
    (Cue.DECISION, "那就用方案 B。"),
    (Cue.STANDING, "必ずテストを実行してからコミットしてください。"),
    (Cue.STANDING, "今後はyarnを使ってください。"),
    (Cue.STYLE, "返事は短くお願いします。"),
    (Cue.STYLE, "日本語で答えてください。"),
    (Cue.PROHIBITION, "mainブランチに直接pushしないでください。"),
    (Cue.PROHIBITION, "npmではなくpnpmを使ってください。"),
    (Cue.REQUEST, "直してください。"),
    (Cue.QUESTION, "なぜ失敗しますか?"),
    (Cue.DECISION, "案Bにします。"),
    (Cue.STANDING, "Bitte immer auf Deutsch antworten."),
    (Cue.STANDING, "앞으로 항상 테스트를 실행해 주세요."),
    (Cue.STANDING, "Usa siempre pnpm."),
]

DESCRIPTIONS = [
    "It always fails on Mondays.",
    "The spinner never stops.",
    "We never got an answer.",
    "Never mind.",
    "The job always works after a restart.",
]


@pytest.mark.parametrize(("cue", "sentence"), SENTENCES)
def test_a_sentence_is_read_for_what_it_asks(cue: Cue, sentence: str) -> None:
    assert cue_of(sentence) is cue


@pytest.mark.parametrize("sentence", DESCRIPTIONS)
def test_always_and_never_in_a_description_are_no_standing_rule(sentence: str) -> None:
    assert cue_of(sentence) < Cue.STYLE


def test_a_sentence_no_person_would_speak_has_no_cue() -> None:
    assert cue_of("always use it " * 100) is Cue.NONE
