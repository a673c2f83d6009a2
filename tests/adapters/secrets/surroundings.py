"""The places in which a secret turns up in a session, as the text before and after the value."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.adapters.secrets.families import Family

Frame = Callable[[Family], tuple[str, str]]


@dataclass(frozen=True)
class Surrounding:
    """A text with a hole; ``needs_shape`` when nothing in it says that the hole holds a secret."""

    name: str
    frame: Frame
    needs_shape: bool = False

    def text(self, family: Family, value: str) -> tuple[str, str, str]:
        """Before, value, after."""
        before, after = self.frame(family)
        return before, value, after


def _camel(variable: str) -> str:
    head, *rest = variable.lower().split("_")
    return head + "".join(word.capitalize() for word in rest)


def _pascal(variable: str) -> str:
    return "".join(word.capitalize() for word in variable.lower().split("_"))


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _nested(f: Family) -> tuple[str, str]:
    before, after = '{"retries": 3, "' + _camel(f.variable) + '": "', '", "region": "eu"}\nexit 0'
    return '{"type":"function_call_output","output":"' + _escaped(before), _escaped(after) + '"}'


def _nested_twice(f: Family) -> tuple[str, str]:
    before, after = _nested(f)
    return '{"payload":"' + _escaped(before), _escaped(after) + '","n":1}'


def _env_in_json(f: Family) -> tuple[str, str]:
    return '{"output":"LOG=debug\\n' + f.variable + "=", '\\nPORT=8080\\n"}'


SURROUNDINGS: tuple[Surrounding, ...] = (
    Surrounding("shell export", lambda f: (f"cd app\nexport {f.variable}=", "\nmake deploy\n")),
    Surrounding("shell quoted", lambda f: (f"export {f.variable}='", "' && ./run.sh --fast\n")),
    Surrounding("shell prefix", lambda f: (f"$ {f.variable}=", " python manage.py migrate")),
    Surrounding("env file", lambda f: (f"# settings\nDEBUG=1\n{f.variable}=", "\nPORT=8080\n")),
    Surrounding("env quoted", lambda f: (f'{f.variable}="', '"\nPORT=8080\n')),
    Surrounding(
        "json", lambda f: ('{"user": "shop", "' + f.variable.lower() + '": "', '", "retries": 3}')
    ),
    Surrounding(
        "json pretty", lambda f: ('{\n  "' + _camel(f.variable) + '": "', '",\n  "port": 1\n}')
    ),
    Surrounding("json in json", _nested),
    Surrounding("json in json in json", _nested_twice),
    Surrounding("env in json", _env_in_json),
    Surrounding("yaml", lambda f: (f"app:\n  {f.variable.lower()}: ", "\n  replicas: 2\n")),
    Surrounding("yaml quoted", lambda f: (f"{f.variable}: '", "'\nother: 1\n")),
    Surrounding("toml", lambda f: (f'[auth]\n{f.variable.lower()} = "', '"\ntimeout = 30\n')),
    Surrounding("ini", lambda f: (f"[auth]\n{f.variable.lower()} = ", "\ntimeout = 30\n")),
    Surrounding(
        "properties", lambda f: (f"app.{f.variable.lower().replace('_', '.')}=", "\napp.port=80\n")
    ),
    Surrounding("python", lambda f: (f'import os\n{f.variable} = "', '"\nclient = connect()\n')),
    Surrounding("python environ", lambda f: (f'os.environ["{f.variable}"] = \'', "'\nrun()\n")),
    Surrounding(
        "python keyword",
        lambda f: (f"c = Client(region='eu', {f.variable.lower()}='", "', retries=2)"),
    ),
    Surrounding(
        "javascript", lambda f: (f"const cfg = {{ {_camel(f.variable)}: '", "', port: 80 };")
    ),
    Surrounding("setenv", lambda f: (f'monkeypatch.setenv("{f.variable}", "', '")\n')),
    Surrounding("go", lambda f: (f'\t{_camel(f.variable)} := "', '"\n\treturn nil\n')),
    Surrounding(
        "docker-compose",
        lambda f: (f"    environment:\n      - {f.variable}=", "\n      - PORT=80\n"),
    ),
    Surrounding("dockerfile", lambda f: (f"FROM x\nENV {f.variable}=", "\nRUN make\n")),
    Surrounding("docker run", lambda f: (f"docker run -e {f.variable}=", " -p 80:80 shop:latest")),
    Surrounding(
        "kubernetes", lambda f: (f'  - name: {f.variable}\n    value: "', '"\n  - name: PORT\n')
    ),
    Surrounding(
        "kubernetes json", lambda f: (f'{{"name":"{f.variable}","value":"', '"},{"name":"PORT"}')
    ),
    Surrounding("terraform", lambda f: (f'  {f.variable.lower()} = "', '"\n  region = "eu"\n')),
    Surrounding(
        "xml", lambda f: (f"<cfg><{_camel(f.variable)}>", f"</{_camel(f.variable)}></cfg>")
    ),
    Surrounding("xml attribute", lambda f: (f'<add key="{_pascal(f.variable)}" value="', '" />')),
    Surrounding(
        "flag", lambda f: (f"tool login --{f.variable.lower().replace('_', '-')} ", " --region eu")
    ),
    Surrounding(
        "flag equals",
        lambda f: (f"tool login --{f.variable.lower().replace('_', '-')}=", " --region eu"),
    ),
    Surrounding(
        "http header",
        lambda f: (
            f"GET /v1 HTTP/1.1\nX-{'-'.join(w.capitalize() for w in f.variable.split('_'))}: ",
            "\nAccept: */*\n",
        ),
    ),
    Surrounding("http bearer", lambda f: ("> Authorization: Bearer ", "\n> Accept: */*\n")),
    Surrounding(
        "curl bearer", lambda f: ("curl -H 'Authorization: Bearer ", "' https://api.invalid/v1")
    ),
    Surrounding(
        "http log",
        lambda f: (f'10.0.0.7 - - "GET /cb?x=1&{f.variable.lower()}=', '&y=2 HTTP/1.1" 200 512'),
    ),
    Surrounding(
        "url password", lambda f: ("DATABASE_URL=postgres://shop:", "@db.invalid:5432/shop\n")
    ),
    Surrounding(
        "connection string",
        lambda f: (f"Server=db.invalid;User=x;{_pascal(f.variable)}=", ";Timeout=3\n"),
    ),
    Surrounding("sql", lambda f: (f"UPDATE conf SET {f.variable.lower()} = '", "' WHERE id = 3;")),
    Surrounding("markdown", lambda f: (f"- **{f.variable}**: `", "` (rotate soon)\n")),
    Surrounding(
        "markdown table", lambda f: (f"| name | value |\n|---|---|\n| {f.variable} | ", " |\n")
    ),
    Surrounding("diff", lambda f: (f"@@ -1 +1 @@\n-PORT=80\n+{f.variable}=", "\n+PORT=81\n")),
    Surrounding("diff yaml", lambda f: (f"+  {f.variable.lower()}: ", "\n+  port: 80\n")),
    Surrounding("chinese prose", lambda f: ("线上的密钥是 ", " ,不要写进文件。")),
    Surrounding("chinese tight", lambda f: ("数据库密码是:", "，请保密。")),
    Surrounding("english prose", lambda f: ("The token is ", " and it works on staging.")),
    Surrounding("windows", lambda f: (f"C:\\> set {f.variable}=", "\r\nC:\\> dir\r\n")),
    Surrounding("powershell", lambda f: (f'$env:{f.variable} = "', '"\nGet-Item .\n')),
    Surrounding("cat -n", lambda f: (f"     3\t{f.variable}=", "\n     4\tPORT=1\n")),
    Surrounding(
        "grep -n", lambda f: (f"config/.env:12:{f.variable}=", "\nconfig/.env:13:PORT=1\n")
    ),
    Surrounding("colour", lambda f: (f"{f.variable}=", "\x1b[0m ok\n")),
    Surrounding("bare sentence", lambda f: ("I pasted ", " into the form."), needs_shape=True),
    Surrounding("bare list", lambda f: ("- ", "\n- next\n"), needs_shape=True),
    Surrounding("bare quoted", lambda f: ("client.connect('", "')"), needs_shape=True),
    Surrounding("bare coloured", lambda f: ("\x1b[32m", "\x1b[0m done"), needs_shape=True),
    Surrounding("bare escaped", lambda f: ('"one\\n', '\\ntwo"'), needs_shape=True),
    Surrounding("bare path", lambda f: ("https://api.invalid/v1/", "?x=1"), needs_shape=True),
    Surrounding("bare chinese", lambda f: ("我用的是", "，昨天申请的"), needs_shape=True),
)
