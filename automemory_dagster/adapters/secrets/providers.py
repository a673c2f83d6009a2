"""Token shapes of code hosting, package registries, clouds, language-model and other services.

Prefixes are public facts of each service's documentation; lengths are lower bounds of our own
choice (``shapes.py``).
"""

from automemory_dagster.adapters.secrets.shapes import HEX, URLSAFE, WORD, Shape, ShapeTable


def _family(kind: str, tail: str, *prefixes: str, trusted: bool = False) -> tuple[Shape, ...]:
    return tuple(Shape(kind, prefix, tail, trusted) for prefix in prefixes)


_UUID = f"{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}"

_LANGUAGE_MODELS = (
    *_family("anthropic_key", URLSAFE + "{16,}", "sk-ant-", trusted=True),
    *_family("openrouter_key", URLSAFE + "{16,}", "sk-or-v1-", "sk-or-"),
    *_family(
        "openai_key",
        URLSAFE + "{16,}",
        "sk-proj-",
        "sk-svcacct-",
        "sk-admin-",
        "sk-None-",
        trusted=True,
    ),
    *_family("deepseek_key", HEX + r"{32}\b", "sk-"),
    *_family("langfuse_key", _UUID, "sk-lf-", trusted=True),
    *_family("openai_key", URLSAFE + "{16,}", "sk-"),
    *_family("openai_session", WORD + "{16,}", "sess-"),
    *_family("huggingface_token", WORD + "{16,}", "hf_", "api_org_"),
    *_family("groq_key", WORD + "{16,}", "gsk_"),
    *_family("xai_key", WORD + "{16,}", "xai-"),
    *_family("perplexity_key", WORD + "{16,}", "pplx-"),
    *_family("replicate_token", WORD + "{16,}", "r8_"),
    *_family("together_key", URLSAFE + "{16,}", "tgp_v1_"),
    *_family("fireworks_key", WORD + "{18,}", "fw_"),
    *_family("cerebras_key", WORD + "{16,}", "csk-"),
    *_family("nvidia_key", URLSAFE + "{16,}", "nvapi-", trusted=True),
    *_family("elevenlabs_key", HEX + "{16,}", "sk_"),
    *_family("tavily_key", URLSAFE + "{16,}", "tvly-"),
    *_family("firecrawl_key", HEX + r"{32}\b", "fc-"),
    *_family("pinecone_key", URLSAFE + "{16,}", "pcsk_", trusted=True),
    *_family("langsmith_key", r"(?:pt|sk)_[0-9a-f]{16,}(?:_[0-9a-f]+)?", "lsv2_", trusted=True),
    *_family("wandb_key", URLSAFE + "{16,}", "wandb_v1_"),
    *_family("jina_key", URLSAFE + "{16,}", "jina_"),
    *_family("voyage_key", URLSAFE + "{30,}", "pa-"),
    *_family("anyscale_key", WORD + "{16,}", "esecret_"),
)
_CODE_HOSTS = (
    *_family("github_token", WORD + "{16,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *_family("github_token", r"[A-Za-z0-9_]{16,}", "github_pat_", trusted=True),
    *_family(
        "gitlab_token",
        r"[A-Za-z0-9_.-]{16,}",
        "glpat-",
        "gldt-",
        "glrt-",
        "glcbt-",
        "glptt-",
        "glft-",
        "glsoat-",
        "glimt-",
        "glagent-",
        "glffct-",
        "gloas-",
        trusted=True,
    ),
    *_family("gitlab_token", URLSAFE + "{16,}", "GR1348941"),
    *_family("bitbucket_token", URLSAFE + "{16,}", "ATBB"),
    *_family("atlassian_token", r"[A-Za-z0-9_=-]{16,}", "ATATT3", "ATCTT3", trusted=True),
    *_family("buildkite_token", WORD + "{16,}", "bkua_", "bkaj_", "bkpat_"),
    *_family("circleci_token", r"[A-Za-z0-9_]{16,}", "CCIPAT_", "CCIPRJ_"),
    *_family("sonar_token", HEX + "{16,}", "sqp_", "sqa_", "squ_"),
    *_family(
        "sentry_token", r"[A-Za-z0-9+/_=-]{16,}", "sntrys_", "sntryu_", "sntryi_", trusted=True
    ),
    *_family("postman_key", r"[0-9a-f]{16,}-[0-9a-f]{16,}", "PMAK-", trusted=True),
    *_family("readme_key", WORD + "{40,}", "rdme_"),
    *_family("sourcegraph_token", r"[A-Za-z0-9_]{16,}", "sgp_", "slk_"),
)
_REGISTRIES = (
    *_family("npm_token", WORD + "{16,}", "npm_"),
    *_family("pypi_token", URLSAFE + "{40,}", "pypi-"),
    *_family("rubygems_key", HEX + "{16,}", "rubygems_"),
    *_family("crates_token", WORD + r"{32}\b", "cio"),
    *_family("nuget_key", r"[a-z0-9]{43}\b", "oy2"),
    *_family("docker_token", URLSAFE + "{16,}", "dckr_pat_", "dckr_oat_", trusted=True),
    *_family("clojars_token", WORD + "{40,}", "CLOJARS_"),
    *_family("artifactory_key", WORD + "{60,}", "AKCp", "cmVmdGtu"),
)
_CLOUDS = (
    *_family("aws_access_key_id", r"[A-Z0-9]{16}\b", "AKIA", "ASIA", "ABIA", "ACCA", trusted=True),
    *_family("aws_bedrock_key", r"[A-Za-z0-9+/]{60,}={0,2}", "ABSK", "bedrock-api-key-"),
    *_family("google_api_key", URLSAFE + "{16,}", "AIza", trusted=True),
    *_family("google_oauth_secret", URLSAFE + "{16,}", "GOCSPX-", trusted=True),
    *_family("google_oauth_token", r"[A-Za-z0-9_.-]{16,}", "ya29.", trusted=True),
    *_family("google_refresh_token", URLSAFE + "{16,}", "1//0"),
    *_family("digitalocean_token", HEX + "{16,}", "dop_v1_", "doo_v1_", "dor_v1_"),
    *_family("heroku_key", URLSAFE + "{16,}", "HRKU-"),
    *_family(
        "vercel_token", WORD + "{16,}", "vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"
    ),
    *_family("netlify_token", WORD + "{16,}", "nfp_", "nfo_", "nfu_", "nfb_", "nfc_"),
    *_family("supabase_key", HEX + "{16,}", "sbp_"),
    *_family("supabase_key", URLSAFE + "{16,}", "sb_secret_", trusted=True),
    *_family("cloudflare_token", URLSAFE + "{16,}", "cfut_", "cfat_", "cfk_"),
    *_family("cloudflare_ca_key", r"[0-9a-f]{24}-[0-9a-f]{100,}", "v1.0-", trusted=True),
    *_family("databricks_token", r"[0-9a-f]{32}(?:-\d)?", "dapi", "dkea", "dose"),
    *_family("alibaba_key_id", WORD + "{12,26}", "LTAI"),
    *_family("tencent_secret_id", WORD + "{28,}", "AKID"),
    *_family("baidu_key", r"[A-Za-z0-9]{16,}/[0-9a-f]{16,}", "bce-v3/ALTAK-", trusted=True),
    *_family("volcengine_key", WORD + "{30,}", "AKLT"),
    *_family("yandex_key", URLSAFE + "{30,}", "AQVN"),
    *_family("flyio_token", r"[A-Za-z0-9+/=_,-]{16,}", "fo1_", "fm1_", "fm2_", "fm1r_", "fm1a_"),
    *_family("render_key", WORD + "{16,}", "rnd_"),
    *_family(
        "planetscale_token", r"[A-Za-z0-9_.=-]{16,}", "pscale_tkn_", "pscale_pw_", "pscale_oauth_"
    ),
    *_family("neon_key", WORD + "{16,}", "napi_"),
    *_family("pulumi_token", HEX + "{16,}", "pul-"),
    *_family("prefect_key", WORD + "{16,}", "pnu_"),
    *_family(
        "doppler_token",
        r"[A-Za-z0-9_.]{16,}",
        "dp.pt.",
        "dp.st.",
        "dp.sa.",
        "dp.ct.",
        "dp.scim.",
        "dp.audit.",
    ),
    *_family("vault_token", URLSAFE + "{16,}", "hvs.", "hvb.", "hvr.", trusted=True),
    *_family("tailscale_key", r"[A-Za-z0-9-]{16,}", "tskey-", trusted=True),
    *_family("onepassword_token", r"[A-Za-z0-9_.=-]{16,}", "ops_eyJ"),
    *_family("infracost_key", WORD + r"{32}\b", "ico-"),
)
_SERVICES = (
    *_family(
        "slack_token",
        r"[A-Za-z0-9-]{10,}",
        "xoxb-",
        "xoxp-",
        "xoxa-",
        "xoxo-",
        "xoxr-",
        "xoxs-",
        "xoxc-",
        "xoxd-",
    ),
    *_family("slack_token", r"[A-Za-z0-9.-]{16,}", "xapp-", "xoxe-", "xoxe."),
    *_family(
        "stripe_key", WORD + "{16,}", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_"
    ),
    *_family("webhook_secret", r"[A-Za-z0-9+/]{16,}={0,2}", "whsec_"),
    *_family("sendgrid_key", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "SG."),
    *_family("twilio_key", HEX + r"{32}\b", "SK"),
    *_family("mailgun_key", HEX + r"{32}\b", "key-"),
    *_family("brevo_key", r"[0-9a-f]{16,}(?:-[A-Za-z0-9]+)?", "xkeysib-", "xsmtpsib-"),
    *_family("resend_key", r"[A-Za-z0-9]{6,}_[A-Za-z0-9]{16,}", "re_"),
    *_family("notion_token", WORD + "{40,}", "secret_"),
    *_family("notion_token", WORD + "{16,}", "ntn_"),
    *_family("linear_key", WORD + "{16,}", "lin_api_", "lin_oauth_", "lin_wh_", trusted=True),
    *_family("figma_token", URLSAFE + "{16,}", "figd_", "figo_", "figu_", trusted=True),
    *_family(
        "shopify_token", r"[0-9a-fA-F]{16,}", "shpat_", "shpca_", "shppa_", "shpss_", "shptka_"
    ),
    *_family("square_token", URLSAFE + "{16,}", "sq0atp-", "sq0csp-", trusted=True),
    *_family("square_token", URLSAFE + "{50,}", "EAAA"),
    *_family("facebook_token", WORD + "{60,}", "EAA"),
    *_family(
        "plaid_token",
        _UUID,
        "access-sandbox-",
        "access-development-",
        "access-production-",
        trusted=True,
    ),
    *_family("newrelic_key", WORD + "{16,}", "NRAK-", "NRJS-", "NRII-", "NRRA-"),
    *_family("grafana_token", r"[A-Za-z0-9_+/=]{16,}", "glsa_", "glc_"),
    *_family("posthog_key", WORD + "{16,}", "phx_", "phs_"),
    *_family("airtable_token", r"[A-Za-z0-9]{14}\.[0-9a-f]{16,}", "pat", trusted=True),
    *_family("hubspot_token", r"(?:na|eu|ap)\d-" + _UUID, "pat-", trusted=True),
    *_family("typeform_token", r"[A-Za-z0-9_.-]{16,}", "tfp_"),
    *_family("dropbox_token", URLSAFE + "{60,}", "sl."),
    *_family("contentful_token", URLSAFE + "{16,}", "CFPAT-"),
    *_family("mapbox_token", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "sk.eyJ"),
    *_family("razorpay_key", WORD + "{14,}", "rzp_live_", "rzp_test_"),
    *_family("flutterwave_key", r"[A-Za-z0-9-]{16,}", "FLWSECK_TEST-", "FLWSECK-"),
    *_family("easypost_key", WORD + "{40,}", "EZAK", "EZTK"),
    *_family("shippo_token", HEX + "{16,}", "shippo_live_", "shippo_test_"),
    *_family("duffel_token", r"(?:live|test)_[A-Za-z0-9_-]{16,}", "duffel_"),
    *_family("ory_token", URLSAFE + "{16,}", "ory_at_", "ory_rt_", "ory_pat_"),
    *_family("frameio_token", URLSAFE + "{40,}", "fio-u-"),
    *_family("adobe_secret", WORD + "{16,}", "p8e-"),
    *_family("age_secret_key", r"[A-Z0-9]{40,}", "AGE-SECRET-KEY-1", trusted=True),
    *_family(
        "jwt",
        r"[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*)?",
        "eyJ",
        trusted=True,
    ),
    *_family("password_hash", r"\d\d\$[./A-Za-z0-9]{50,}", "$2a$", "$2b$", "$2y$", trusted=True),
    *_family(
        "password_hash",
        r"(?:rounds=\d+\$|[./A-Za-z0-9]{1,16}\$)?[./A-Za-z0-9]{2,32}\$[./A-Za-z0-9]{22,}",
        "$6$",
        "$5$",
        "$1$",
        "$apr1$",
        "$y$",
        trusted=True,
    ),
    *_family(
        "password_hash",
        r"(?:id|i|d)\$v=\d+\$[^\s$]+\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}",
        "$argon2",
        trusted=True,
    ),
)

PROVIDERS = ShapeTable((*_LANGUAGE_MODELS, *_CODE_HOSTS, *_REGISTRIES, *_CLOUDS, *_SERVICES))
"""Every prefix shape; the anchor and the reader of the engine."""
