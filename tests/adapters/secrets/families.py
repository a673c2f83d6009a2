# ruff: noqa: E501 - tables of texts: a broken line would hide what they look like
"""Makes valid-shaped fakes of secrets from a seed; imports nothing of the engine, so its answers are its own.

No fake is written out anywhere: a value exists only while a test runs, and secret scanners stay quiet about the source.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"

Maker = Callable[[random.Random], str]


@dataclass(frozen=True)
class Family:
    """One kind of secret: how a value is drawn and the name it usually goes by, in capitals."""

    name: str
    variable: str
    make: Maker
    has_shape: bool = True
    """False when only the name tells that it is a secret."""


def draw(rng: random.Random, alphabet: str, length: int) -> str:
    """Random characters of which some are letters and some digits, as in nearly every real token."""
    while True:
        value = "".join(rng.choice(alphabet) for _ in range(length))
        inner = value[:1].isalnum() and value[-1:].isalnum()
        if (
            inner
            and sum(c.isdigit() for c in value) >= min(2, length // 8)
            and any(c.isalpha() for c in value)
        ):
            return value


def _t(prefix: str, alphabet: str, length: int, suffix: str = "") -> Maker:
    return lambda rng: prefix + draw(rng, alphabet, length) + suffix


def _uuid(rng: random.Random) -> str:
    return "-".join(
        draw(rng, HEX, n) if n > 4 else "".join(rng.choices(HEX, k=n)) for n in (8, 4, 4, 4, 12)
    )


def _jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': draw(rng, LOWER + DIGITS, 12), 'iat': rng.randrange(10**9)})}.{draw(rng, URLSAFE, 43)}"


def _password(rng: random.Random) -> str:
    words = ["Tulip", "harbor", "Velvet", "kestrel", "Mango", "orchid", "Quartz"]
    return rng.choice(words) + rng.choice("-_.") + draw(rng, ALNUM, 6) + str(rng.randrange(10, 99))


def _symbol_password(rng: random.Random) -> str:
    return (
        draw(rng, ALNUM, 4)
        + rng.choice("!@^*")
        + draw(rng, ALNUM, 5)
        + rng.choice("!^*")
        + draw(rng, ALNUM, 2)
    )


def _basic(rng: random.Random) -> str:
    return base64.b64encode(f"deploy:{draw(rng, ALNUM, 14)}".encode()).decode()


def _aws_secret(rng: random.Random) -> str:
    return draw(rng, BASE64, 40)


def _account_key(rng: random.Random) -> str:
    return base64.b64encode(bytes(rng.randrange(256) for _ in range(64))).decode()


def _url(rng: random.Random) -> str:
    return draw(rng, ALNUM, 16)


F = Family
FAMILIES: tuple[Family, ...] = (
    F("openai_legacy", "OPENAI_API_KEY", _t("sk-", ALNUM, 48)),
    F("openai_project", "OPENAI_API_KEY", _t("sk-" + "proj-", URLSAFE, 120)),
    F("openai_service", "OPENAI_API_KEY", _t("sk-" + "svcacct-", URLSAFE, 100)),
    F("openai_admin", "OPENAI_ADMIN_KEY", _t("sk-" + "admin-", URLSAFE, 100)),
    F("anthropic", "ANTHROPIC_API_KEY", _t("sk-" + "ant-api03-", URLSAFE, 93, "AA")),
    F("openrouter", "OPENROUTER_API_KEY", _t("sk-" + "or-v1-", HEX, 64)),
    F("deepseek", "DEEPSEEK_API_KEY", _t("sk-", HEX, 32)),
    F("moonshot", "MOONSHOT_API_KEY", _t("sk-", ALNUM, 48)),
    F("hugging_face", "HF_TOKEN", _t("hf" + "_", ALNUM, 34)),
    F("groq", "GROQ_API_KEY", _t("gsk" + "_", ALNUM, 52)),
    F("xai", "XAI_API_KEY", _t("xai" + "-", ALNUM, 80)),
    F("perplexity", "PERPLEXITY_API_KEY", _t("pplx" + "-", ALNUM, 48)),
    F("replicate", "REPLICATE_API_TOKEN", _t("r8" + "_", ALNUM, 37)),
    F("nvidia", "NVIDIA_API_KEY", _t("nvapi" + "-", URLSAFE, 64)),
    F("tavily", "TAVILY_API_KEY", _t("tvly" + "-", ALNUM, 32)),
    F("pinecone", "PINECONE_API_KEY", _t("pcsk" + "_", URLSAFE, 70)),
    F("zhipu", "ZHIPU_API_KEY", lambda r: draw(r, HEX, 32) + "." + draw(r, ALNUM, 16)),
    F("github_classic", "GITHUB_TOKEN", _t("ghp" + "_", ALNUM, 36)),
    F("github_oauth", "GITHUB_TOKEN", _t("gho" + "_", ALNUM, 36)),
    F("github_server", "GH_TOKEN", _t("ghs" + "_", ALNUM, 36)),
    F(
        "github_fine",
        "GITHUB_PAT",
        lambda r: "github" + "_pat_" + draw(r, ALNUM, 22) + "_" + draw(r, ALNUM, 59),
    ),
    F("gitlab", "GITLAB_TOKEN", _t("glpat" + "-", URLSAFE, 20)),
    F("gitlab_runner", "CI_RUNNER_TOKEN", _t("glrt" + "-", URLSAFE, 20)),
    F("bitbucket", "BITBUCKET_TOKEN", _t("ATBB", ALNUM, 32)),
    F("atlassian", "ATLASSIAN_API_TOKEN", _t("ATATT3", URLSAFE, 180)),
    F("aws_key_id", "AWS_ACCESS_KEY_ID", _t("AKIA", UPPER + "234567", 16)),
    F("aws_session_id", "AWS_ACCESS_KEY_ID", _t("ASIA", UPPER + "234567", 16)),
    F("aws_secret", "AWS_SECRET_ACCESS_KEY", _aws_secret, False),
    F("google_api", "GOOGLE_API_KEY", _t("AIza", URLSAFE, 35)),
    F("google_oauth_secret", "GOOGLE_CLIENT_SECRET", _t("GOCSPX" + "-", URLSAFE, 28)),
    F("google_access", "GOOGLE_ACCESS_TOKEN", _t("ya29" + ".", URLSAFE, 120)),
    F(
        "azure_client",
        "AZURE_CLIENT_SECRET",
        lambda r: draw(r, ALNUM, 3) + "8Q~" + draw(r, ALNUM + "~_-", 34),
    ),
    F("azure_storage", "AZURE_STORAGE_ACCOUNT_KEY", _account_key, False),
    F(
        "slack_bot",
        "SLACK_BOT_TOKEN",
        lambda r: (
            "xox"
            + f"b-{r.randrange(10**11, 10**12)}-{r.randrange(10**11, 10**12)}-{draw(r, ALNUM, 24)}"
        ),
    ),
    F(
        "slack_app",
        "SLACK_APP_TOKEN",
        lambda r: (
            "xapp"
            + f"-1-A{draw(r, UPPER + DIGITS, 10)}-{r.randrange(10**12, 10**13)}-{draw(r, HEX, 64)}"
        ),
    ),
    F("stripe_live", "STRIPE_SECRET_KEY", _t("sk" + "_live_", ALNUM, 24)),
    F("stripe_restricted", "STRIPE_API_KEY", _t("rk" + "_live_", ALNUM, 24)),
    F("stripe_webhook", "STRIPE_WEBHOOK_SECRET", _t("whsec" + "_", ALNUM, 32)),
    F("npm", "NPM_TOKEN", _t("npm" + "_", ALNUM, 36)),
    F("pypi", "PYPI_TOKEN", _t("pypi" + "-AgEIcHlwaS5vcmc", URLSAFE, 150)),
    F("rubygems", "RUBYGEMS_API_KEY", _t("rubygems" + "_", HEX, 48)),
    F("docker_hub", "DOCKERHUB_TOKEN", _t("dckr" + "_pat_", URLSAFE, 27)),
    F(
        "telegram",
        "TELEGRAM_BOT_TOKEN",
        lambda r: f"{r.randrange(10**8, 10**10)}:AA" + draw(r, URLSAFE, 33),
    ),
    F(
        "discord",
        "DISCORD_TOKEN",
        lambda r: (
            r.choice("MN")
            + draw(r, ALNUM, 23)
            + "."
            + draw(r, ALNUM, 6)
            + "."
            + draw(r, URLSAFE, 27)
        ),
    ),
    F("twilio", "TWILIO_API_KEY", _t("SK", HEX, 32)),
    F("twilio_auth", "TWILIO_AUTH_TOKEN", _t("", HEX, 32), False),
    F(
        "sendgrid",
        "SENDGRID_API_KEY",
        lambda r: "SG" + "." + draw(r, URLSAFE, 22) + "." + draw(r, URLSAFE, 43),
    ),
    F("mailgun", "MAILGUN_API_KEY", _t("key" + "-", HEX, 32)),
    F("mailchimp", "MAILCHIMP_API_KEY", _t("", HEX, 32, "-us12")),
    F("cloudflare", "CLOUDFLARE_API_TOKEN", _t("", URLSAFE, 40), False),
    F("digitalocean", "DIGITALOCEAN_TOKEN", _t("dop" + "_v1_", HEX, 64)),
    F("heroku", "HEROKU_API_KEY", _uuid, False),
    F("vercel", "VERCEL_TOKEN", _t("", ALNUM, 24), False),
    F("netlify", "NETLIFY_AUTH_TOKEN", _t("nfp" + "_", ALNUM, 36)),
    F("supabase", "SUPABASE_ACCESS_TOKEN", _t("sbp" + "_", HEX, 40)),
    F("databricks", "DATABRICKS_TOKEN", _t("dapi", HEX, 32)),
    F("datadog_api", "DD_API_KEY", _t("", HEX, 32), False),
    F("datadog_app", "DD_APP_KEY", _t("", HEX, 40), False),
    F("sentry", "SENTRY_AUTH_TOKEN", _t("sntrys" + "_", ALNUM, 60)),
    F("notion", "NOTION_API_KEY", _t("ntn" + "_", ALNUM, 46)),
    F("notion_old", "NOTION_TOKEN", _t("secret" + "_", ALNUM, 43)),
    F("linear", "LINEAR_API_KEY", _t("lin" + "_api_", ALNUM, 40)),
    F("figma", "FIGMA_TOKEN", _t("figd" + "_", URLSAFE, 40)),
    F("shopify", "SHOPIFY_ACCESS_TOKEN", _t("shpat" + "_", HEX, 32)),
    F("square", "SQUARE_ACCESS_TOKEN", _t("sq0" + "atp-", URLSAFE, 22)),
    F("square_long", "SQUARE_ACCESS_TOKEN", _t("EAAA", URLSAFE, 60)),
    F("jwt", "SESSION_JWT", _jwt),
    F("age", "AGE_SECRET_KEY", _t("AGE-" + "SECRET-KEY-1", UPPER + DIGITS, 58)),
    F("alibaba_id", "ALIBABA_ACCESS_KEY", _t("LTAI", ALNUM, 20)),
    F("alibaba_secret", "ALIYUN_ACCESS_KEY_SECRET", _t("", ALNUM, 30), False),
    F("tencent_id", "TENCENT_SECRET_KEY", _t("AKID", ALNUM, 32)),
    F("tencent_secret", "TENCENTCLOUD_SECRET_KEY", _t("", ALNUM, 32), False),
    F(
        "baidu",
        "QIANFAN_API_KEY",
        lambda r: "bce" + "-v3/ALTAK-" + draw(r, ALNUM, 21) + "/" + draw(r, HEX, 40),
    ),
    F(
        "grafana",
        "GRAFANA_TOKEN",
        lambda r: "glsa" + "_" + draw(r, ALNUM, 32) + "_" + draw(r, HEX, 8),
    ),
    F("vault", "VAULT_TOKEN", _t("hvs" + ".", URLSAFE, 90)),
    F(
        "terraform",
        "TFE_TOKEN",
        lambda r: draw(r, ALNUM, 14) + ".atlas" + "v1." + draw(r, ALNUM, 64),
    ),
    F(
        "postman",
        "POSTMAN_API_KEY",
        lambda r: "PMAK" + "-" + draw(r, HEX, 24) + "-" + draw(r, HEX, 34),
    ),
    F("new_relic", "NEW_RELIC_API_KEY", _t("NRAK" + "-", UPPER + DIGITS, 27)),
    F("airtable", "AIRTABLE_TOKEN", lambda r: "pat" + draw(r, ALNUM, 14) + "." + draw(r, HEX, 64)),
    F(
        "tailscale",
        "TAILSCALE_AUTH_KEY",
        lambda r: "tskey" + "-auth-" + draw(r, ALNUM, 12) + "CNTRL-" + draw(r, ALNUM, 32),
    ),
    F("doppler", "DOPPLER_TOKEN", _t("dp" + ".pt.", ALNUM, 43)),
    F("planetscale", "PLANETSCALE_PASSWORD", _t("pscale" + "_pw_", ALNUM, 43)),
    F(
        "brevo",
        "BREVO_API_KEY",
        lambda r: "xkeysib" + "-" + draw(r, HEX, 64) + "-" + draw(r, ALNUM, 16),
    ),
    F("password", "DB_PASSWORD", _password, False),
    F("password_symbols", "POSTGRES_PASSWORD", _symbol_password, False),
    F("password_mixed", "SMTP_PASSWD", _t("", ALNUM, 16), False),
    F("client_secret", "OAUTH_CLIENT_SECRET", _t("", ALNUM, 32), False),
    F("secret_key", "SECRET_KEY", _t("", ALNUM + "-_", 50), False),
    F("encryption_key", "ENCRYPTION_KEY", _t("", HEX, 64), False),
    F("refresh_token", "REFRESH_TOKEN", _t("", URLSAFE, 44), False),
)


def pem_block(rng: random.Random, label: str = "RSA ") -> str:
    """A private-key block of random base64, with real line breaks."""
    body = draw(rng, BASE64, 64 * 6 + 20)
    lines = [body[i : i + 64] for i in range(0, len(body), 64)]
    dashes = "-" * 5
    return "\n".join(
        [
            f"{dashes}BEGIN {label}PRIVATE KEY{dashes}",
            *lines,
            f"{dashes}END {label}PRIVATE KEY{dashes}",
        ]
    )


def basic_credential(rng: random.Random) -> str:
    """What stands behind ``Basic`` in a header."""
    return _basic(rng)
