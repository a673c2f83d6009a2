# ruff: noqa: E501 - tables of texts: a broken line would hide what they look like
"""Makes texts from a seed that look like secrets and are none; every one must come back unchanged."""

import base64
import hashlib
import random
from collections.abc import Callable

from tests.adapters.secrets.families import ALNUM, HEX, URLSAFE, draw

TextMaker = Callable[[random.Random], str]


def _hex(rng: random.Random, length: int) -> str:
    return "".join(rng.choices(HEX, k=length))


def _uuid(rng: random.Random) -> str:
    return "-".join(_hex(rng, n) for n in (8, 4, 4, 4, 12))


def _b64(rng: random.Random, size: int) -> str:
    return base64.b64encode(bytes(rng.randrange(256) for _ in range(size))).decode()


def _pick(*texts: str) -> TextMaker:
    return lambda rng: rng.choice(texts)


LOOKALIKES: dict[str, TextMaker] = {
    "git commit": lambda r: f"commit {_hex(r, 40)}\nAuthor: shop bot\n\n    fix the tax\n",
    "git short log": lambda r: f"{_hex(r, 7)} Fix token refresh\n{_hex(r, 9)} Add password form\n",
    "git diff header": lambda r: (
        f"index {_hex(r, 8)}..{_hex(r, 8)} 100644\n--- a/secrets.py\n+++ b/secrets.py\n"
    ),
    "git tree": lambda r: f"100644 blob {_hex(r, 40)}\tsrc/token.py\n",
    "uuid": lambda r: f"request_id={_uuid(r)} status=200",
    "thread id": lambda r: f'{{"thread_id": "{_uuid(r)}", "session_id": "{_uuid(r)}"}}',
    "codex ids": lambda r: f'{{"call_id": "call_{draw(r, ALNUM, 24)}", "id": "msg_{_hex(r, 50)}"}}',
    "response ids": lambda r: (
        f'{{"id": "resp_{_hex(r, 50)}", "item": "rs_{_hex(r, 50)}", "fc": "fc_{_hex(r, 48)}"}}'
    ),
    "schema keys": lambda r: (
        f'{{"name": "json", "type_key": "Shape.{_hex(r, 40)}", "step_key": "extract_{_hex(r, 8)}"}}'
    ),
    "sha256 sum": lambda r: f"{_hex(r, 64)}  dist/app-1.2.3.tar.gz",
    "checksum field": lambda r: f"checksum: sha256:{_hex(r, 64)}\nmd5 = {_hex(r, 32)}",
    "pip hash": lambda r: f"requests==2.31.0 \\\n    --hash=sha256:{_hex(r, 64)}\n",
    "npm integrity": lambda r: (
        f'"integrity": "sha512-{_b64(r, 64)}",\n"resolved": "https://registry.npmjs.org/x/-/x-1.tgz"'
    ),
    "yarn lock": lambda r: f"  integrity sha512-{_b64(r, 64)}\n  checksum: {_hex(r, 128)}\n",
    "cargo lock": lambda r: f'name = "token"\nversion = "1.0.1"\nchecksum = "{_hex(r, 64)}"\n',
    "go sum": lambda r: f"golang.org/x/oauth2 v0.1.0 h1:{_b64(r, 32)}\n",
    "poetry lock": lambda r: f'{{file = "keyring-24.whl", hash = "sha256:{_hex(r, 64)}"}}',
    "docker digest": lambda r: f"FROM python@sha256:{_hex(r, 64)}\nimage: app:{_hex(r, 12)}",
    "base64 image": lambda r: f"data:image/png;base64,iVBORw0KGgo{_b64(r, 300)}",
    "image field": lambda r: f'{{"image_url": "data:image/jpeg;base64,/9j/{_b64(r, 600)}"}}',
    "encrypted content": lambda r: (
        f'{{"type":"reasoning","encrypted_content":"gAAAAA{draw(r, URLSAFE, 400)}"}}'
    ),
    "source map": lambda r: f"//# sourceMappingURL=data:application/json;base64,{_b64(r, 90)}",
    "certificate": lambda r: (
        f"-----BEGIN CERTIFICATE-----\n{_b64(r, 48)}\n{_b64(r, 48)}\n-----END CERTIFICATE-----"
    ),
    "public key": lambda r: (
        f"-----BEGIN PUBLIC KEY-----\n{_b64(r, 48)}\n-----END PUBLIC KEY-----\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5{_b64(r, 33)} dev@box"
    ),
    "pem marker only": _pick(
        'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    raise ValueError("found")',
        "grep -rn 'BEGIN PRIVATE KEY' .\n",
        'HEAD = "-----BEGIN PRIVATE KEY-----"\nTAIL = "-----END PRIVATE KEY-----"',
    ),
    "unix path": _pick(
        "TOKEN_FILE=/run/secrets/github_token",
        "password_file: /etc/app/db.pass",
        "key=/home/dev/.ssh/id_ed25519",
        "PWD=/home/dev/shop-api2",
        "secret: ./deploy/secrets/v2.enc",
        "--password-file ~/.config/app/pw1.txt",
    ),
    "windows path": _pick(r"token = C:\Users\dev\token1.txt", r"set KEYFILE=C:\keys\app2.pem"),
    "angle placeholder": _pick(
        "GITHUB_TOKEN=<token>",
        "Authorization: Bearer <your token>",
        "password: <db-password-1>",
        "--api-key <API_KEY_2>",
        "https://<user>:<password>@host/db",
        '{"apiKey": "<paste-key-1-here>"}',
    ),
    "your placeholder": _pick(
        "API_KEY=your-api-key",
        'api_key = "your_api_key_here"',
        "OPENAI_API_KEY=sk-your-key-here",
        "token: YOUR_TOKEN_1",
        "password=changeme",
        'secret = "replace-me"',
        "https://user:password@localhost/db",
        "api_key: my-api-key-here",
    ),
    "x placeholder": _pick(
        "token=xxxxxxxxxxxxxxxx",
        "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_" + "x" * 36,
        "AKIA" + "X" * 16,
        'password: "********"',
        "secret=...",
        "api_key=************3f2a",
        "token: sk-proj-...abcd",
        "pw: •••••••",
    ),
    "documentation example": _pick(
        "AKIAIOSFODNN7" + "EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    ),
    "variable reference": _pick(
        "PASSWORD=${TOKEN}",
        "export DB_PASSWORD=$DB_PASSWORD_PROD1",
        'curl -H "Authorization: Bearer $TOKEN"',
        "pw=$(cat x)",
        'token: "${{ secrets.GITHUB_TOKEN }}"',
        "password: {{ db_password }}",
        "postgres://$USER:$PASS@db/x",
        "https://x-access-token:${GH_TOKEN}@github.com/a/b",
        "--password $DB_PASS",
        '--token "$(vault read x)"',
        "set T=%API_TOKEN%",
        "PASSWORD=`cat /tmp/pw1`",
        "echo $env:DB_PASSWORD",
        "{password}",
        "f'token={token2}'",
        "secret_key: !Ref AppSecret1",
    ),
    "environment lookup": _pick(
        'password = os.environ["DB_PASSWORD1"]',
        "const token = process.env.API_TOKEN2;",
        'api_key=os.getenv("KEY_1")',
        'secret := os.Getenv("SECRET_1")',
        "apiKey: import.meta.env.VITE_KEY1,",
        'password = ENV["DB_PASSWORD"]',
        'let token = std::env::var("TOKEN1")?;',
        "password = ENV.fetch('DB_PASSWORD1')",
        'token = System.getenv("TOKEN1")',
    ),
    "empty value": _pick(
        "PASSWORD=",
        "password: ''",
        'token = ""',
        "secret: null",
        "password=None",
        "api_key: ~",
        "token: undefined,",
        '{"password": null, "token": false}',
    ),
    "function call": _pick(
        "password = get_password()",
        "token = await client.refresh_token(user2)",
        "secret = generate_secret(32)",
        "key = Fernet.generate_key()",
        "password=getpass.getpass('DB: ')",
        "api_key = settings.api_key2",
        "token = response.json()['token']",
        "const secret = crypto.randomBytes(32)",
        "password: hash_password(form.password)",
        "token = self._tokens[0]",
        "passwd = input('Password: ')",
        "secret = b64decode(data1)",
    ),
    "annotation": _pick(
        "def check(password: str) -> bool:",
        "password: Optional[str] = None",
        "token: string;",
        "  apiKey?: string",
        "pub password: String,",
        "secret: SecretStr",
        "class A:\n    token: str\n    password: bytes | None",
        "func f(token string, key []byte) error {",
        "function login(user: User, password: string): Promise<Token> {",
        "token: CancellationToken",
        "password: Annotated[str, Field(min_length=8)]",
        "api_key: Secret<String>,",
        "password: z.string().min(8),",
        "password VARCHAR(255) NOT NULL",
        "token TEXT, secret TEXT",
    ),
    "variable to variable": _pick(
        "login(user=user, password=password)",
        "password = new_password",
        "this.token = token;",
        "self.secret = secret",
        "headers={'X-Api-Key': api_key}",
        "{ password: userPassword }",
        "token=token,",
        "connect(passwd=db_passwd)",
        "return { token, secret }",
        "password = form.password.data",
        "f(api_key=key)",
    ),
    "comparison": _pick(
        "if password == confirm:",
        "while token != END1:",
        'assert token == "token"',
        "if (secret === undefined) {",
        "password !== confirmPassword",
    ),
    "counts": lambda r: (
        f"token_count: {r.randrange(10000)}, max_tokens={r.randrange(9000)}, total_tokens: {r.randrange(10**6)}"
    ),
    "usage record": lambda r: (
        f'{{"input_tokens":{r.randrange(10**6)},"cached_input_tokens":{r.randrange(10**5)},"output_tokens":99,"reasoning_output_tokens":64}}'
    ),
    "tokenizer": _pick(
        "tokenizer=AutoTokenizer.from_pretrained('bert-base-v2')",
        "tokenizer: gpt2tok3",
        "token_type: bearer",
        "pad_token = '[PAD]'",
        "eos_token: '</s>'",
        "stop_token=50256",
    ),
    "author": _pick(
        "author: name",
        "author = 'K2 Team'",
        "authority: example3",
        "authors: [a1, b2]",
        "X-Author: dev2user",
    ),
    "keyboard and maps": lambda r: (
        f'{{"key": "item-{r.randrange(99)}", "keyCode": 13, "cache_key": "{_hex(r, 32)}", "primary_key": "id2"}}'
    ),
    "sort keys": lambda r: (
        f"sort_key=created_at2 partition_key={_hex(r, 12)} foreign_key: user_id1 idempotency_key: {_uuid(r)}"
    ),
    "react key": _pick(
        '<li key="row-12">',
        "<Item key={item.id2} />",
        "key: 'a1'",
        "for key, value in d.items():",
        "lambda key: key.age2",
    ),
    "prose": _pick(
        "the token is refreshed every hour",
        "The password is stored in 1Password.",
        "passwords are hashed with bcrypt and a salt",
        "The secret is to test first.",
        "Your API key is invalid",
        "token is 3600 seconds old",
        "the key is config.yaml",
        "password is required",
        "Bearer authentication is used",
        "Basic authentication over TLS",
        "a secret: never log it",
        "The token: it expires",
        "access token is valid for 24h",
        "The password must be at least 8 characters",
        "password is v2.1",
        "the password is not set",
        "API key was removed in 2.31.0",
    ),
    "chinese prose": _pick(
        "密码是必填项",
        "密钥存在 .env 文件里",
        "令牌每小时刷新一次",
        "密码不能为空",
        "请输入密码：",
        "口令由管理员设置",
        "密码长度是 8 位以上",
        "密钥是从 vault 读取的",
        "token 每天轮换",
        "密码是用 bcrypt 存的",
        "密码: <your-password>",
    ),
    "japanese prose": _pick(
        "パスワードは必須です",
        "トークンは 1 時間ごとに更新されます",
        "キーは config.yaml にあります",
    ),
    "user message": _pick(
        '{"password": "Enter your password"}',
        'password: "must contain 1 digit"',
        '"password.reset": "Reset the password"',
        "label: 'Forgot password?'",
        'error = "Invalid token"',
    ),
    "form": _pick(
        '<input type="password" name="password" id="pw1">',
        '<label for="token1">Token</label>',
        'type: "password"',
        "input[name=password]",
        'placeholder="Password"',
    ),
    "schema": _pick(
        '"password": {"type": "string", "minLength": 8}',
        '"token": {"$ref": "#/defs/Token2"}',
        "password:\n  type: string\n  format: password\n",
        '"required": ["password", "token"]',
    ),
    "url": lambda r: (
        f"https://api.example.com/v1/tokens/{r.randrange(999)}?page=2&sort=key http://localhost:8080/a@b https://github.com/a/b/commit/{_hex(r, 40)}"
    ),
    "git remote": _pick(
        "git@github.com:acme/shop2.git",
        "ssh://git@host:22/acme/shop.git",
        "https://github.com/acme/token-tool2",
    ),
    "email": _pick(
        "Signed-off-by: Dev <dev2@example.com>", "mailto:a1@b2.example", "user:dev@example.com"
    ),
    "model name": _pick(
        "model=claude-sonnet-4-5-20250929",
        "model: gpt-5.4-codex-mini",
        "sk-learn==1.4.2",
        "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
        "text-embedding-3-large",
    ),
    "package name": _pick(
        "npm_config_registry=https://registry.npmjs.org",
        "npm_lifecycle_event=postinstall2",
        "hf_hub_download(repo_id='a/b2')",
        "pypi-publish-action-v2",
        "sk-container-id-12345-toggle",
        "risk-assessment-2024-report-final2",
        "task-0123456789abcdefghij",
    ),
    "versions": _pick(
        "python-jose[cryptography]==3.3.0",
        "secrets==1.0.2",
        "token@2.3.4",
        "keyring>=24.3.1",
        "passlib 1.7.4",
    ),
    "timestamps": _pick(
        "2026-11-09T10:10:00.123456Z token refreshed",
        "key 1763888888 expired",
        "20261109101000 secret rotated",
    ),
    "config switch": _pick(
        "password_min_length=8",
        "PASSWORD_HASHERS=argon2",
        "token_ttl: 3600s",
        "secret_rotation_days: 30",
        "SECRET_BACKEND=vault2",
        "password_policy: strong1",
        "token_url: https://id.example/oauth2/token",
        "TOKEN_EXPIRY=15m",
        "api_key_header: X-API-Key",
        "key_id: k1-2024",
        "api_key_name: prod1",
    ),
    "test output": _pick(
        "test_password_reset_1 PASSED",
        "pass: 12 fail: 0",
        "PASS: TestToken2 (0.01s)",
        "tests/test_token.py::test_key2 FAILED",
        "12 passed, 1 failed",
    ),
    "code search": _pick(
        "src/auth.py:12:    password = request.form['password']",
        "app.ts:3:import { token } from './token2'",
        "rg -n 'api_key' src/ | head -20",
        'grep -rn "password=" .',
    ),
    "sql": _pick(
        "SELECT password, token FROM users WHERE id = 1",
        "ALTER TABLE users ADD COLUMN password_hash2 text",
        "UPDATE users SET password = ?",
        "WHERE token = $1 AND secret = :secret",
        "INSERT INTO t (token) VALUES (%s)",
    ),
    "hex colours and addresses": lambda r: (
        f"color: #{_hex(r, 6)}; 0x{_hex(r, 16)} at 0x7f{_hex(r, 10)} mac 00:1b:44:11:3a:b7"
    ),
    "cookie attributes": _pick(
        "Set-Cookie: theme=dark; Path=/; HttpOnly; SameSite=Lax",
        "Cookie: lang=en; theme=dark1",
        "document.cookie = name",
    ),
    "flags": _pick(
        "--token-file x1.txt",
        "--max-tokens 4096",
        "--password-stdin",
        "docker login --password-stdin -u dev2",
        "gh auth login --with-token < t1.txt",
        "--key-type rsa4096",
        "cut -d: -f2 --keys",
    ),
    "vault reference": _pick(
        "password: vault:secret/data/app#pw1",
        "token: op://vault1/item/field",
        "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:app-a1",
        "value: ENC[AES256_GCM,data:Tr7o,iv:1a,tag:2b,type:str]",
        "secretKeyRef:\n  name: app\n  key: token1",
    ),
    "markers": _pick(
        "[REDACTED:github_token]",
        "password=[REDACTED:password]",
        "Authorization: Bearer [REDACTED]",
        "token=[REDACTED_SECRET]",
        "https://u:[REDACTED:url_password]@h/x",
    ),
    "random words": lambda r: " ".join(
        "".join(r.choices("abcdefghijklmnopqrstuvwxyz", k=r.randrange(2, 11))) for _ in range(20)
    ),
    "digest of text": lambda r: (
        f'etag: "{hashlib.sha1(str(r.random()).encode()).hexdigest()}" sha1-{base64.b64encode(hashlib.sha1(b"x").digest()).decode()}'
    ),
    "jupyter output": lambda r: f'"image/png": "iVBORw0KGgoAAAANSUhEUgAA{_b64(r, 200)}\\n",',
    "minified script": lambda r: (
        f"!function(t,e){{var n=t.key,s=e.token||n;return s.password=n,{draw(r, ALNUM, 3)}}}(a,b);"
    ),
    "font": lambda r: f"src:url(data:font/woff2;base64,d09GMgABAAAAA{_b64(r, 120)})",
}

FRAMES: dict[str, tuple[str, str]] = {
    "alone": ("", ""),
    "lines": ("first line\n", "\nlast line\n"),
    "tool output": ("Exit code: 0\nOutput:\n", "\n"),
    "diff": ("@@ -1,2 +1,2 @@\n+", "\n"),
    "numbered": ("    12\t", "\n    13\tdone\n"),
    "fence": ("```\n", "\n```\n"),
}
