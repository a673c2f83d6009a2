"""The word lists behind the judgement of names and values.

The trap: growing them for one case. A word here speaks for every text, so each list says what it
stands for, and the look-alikes in the tests hold the cases.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TRAILING_WORDS = _words(
    """
    prod production staging stage dev development test testing local live base value string text
    plain raw b64 base64 default old new current previous prev backup primary secondary main
    master rw ro v1 v2 v3 id2 env var confirm confirmation again repeat hash encrypted eu us cn
    """
)
"""Words behind a secret word that do not change what it means: ``PASSWORD_PROD``."""

PASSWORD_WORDS = _words(
    """
    password passwd passcode passwort pwd psw passwords requirepass masterauth dbpass contrasena
    motdepasse mypass
    """
)
"""Last words of a name whose value people choose."""

SECRET_WORDS = _words(
    """
    secret secrets credential credentials creds mnemonic
    """
)
"""Last words of a name whose value a machine made."""

KEY_QUALIFIERS = _words(
    """
    api access secret private encryption encrypt signing sign master account auth authentication
    client service deploy root shared storage admin consumer hmac aes jwt webhook bot app
    application subscription integration license server session personal team org write rest
    management ingest ingestion crypt cipher fernet cookie token apikey
    """
)
"""What makes a ``key`` secret when it stands before it."""

KEY_NEUTRAL = _words(
    """
    public primary foreign cache sort partition idempotency run object row map dict hash index
    unique composite group lookup hot press enter arrow shortcut translation i18n message locale
    storagekey query sorting column publishable pub ssh-public host known foreignkey config
    setting redis bucket s3 file dedupe event type schema step asset
    """
)
"""What makes a ``key`` an entry, a column or a thing on a keyboard."""

TOKEN_NEUTRAL = _words(
    """
    pad eos bos unk mask sep cls special stop end start image page next continuation
    cancellation cancel lexer current prev previous peek first last cursor sync total max min
    per input output cached reasoning completion prompt new next_page num n lease count design
    css color
    """
)
"""What makes a ``token`` a piece of text, a count or a place in a list."""

SESSION_NAMES = _words(
    """
    sessionid session sid phpsessid jsessionid connectsid sessiontoken aspnetsessionid cfduid
    cfclearance
    """
)
"""Names of cookies that hold a session, without their separators."""

GLUED_TOKENS = _words(
    """
    authtoken accesstoken refreshtoken bottoken apitoken idtoken sessiontoken usertoken
    logintoken bearertoken pushtoken deploytoken secrettoken
    """
)
"""Names of tokens written as one word."""

GLUED_KEYS = _words(
    """
    apikey secretkey accesskey privatekey authkey appkey accountkey signingkey encryptionkey
    masterkey sharedkey sharedaccesskey servicekey clientkey hashkey adminkey licensekey
    subscriptionkey
    """
)
"""Names of keys written as one word."""

PLACEHOLDER_WORDS = _words(
    """
    a an the my your our their his her this that here there and or of for in on to with from is
    are was be by as at put set use add insert enter paste replace change changeme changeit
    change_me fill get type choose needed api key keys token tokens secret secrets password
    passwd pwd pass passphrase passcode credential credentials auth access refresh client
    private public id name user username userid login account admin administrator root guest
    value values string str text example examples sample demo dummy fake test testing tests mock
    placeholder temp tmp foo bar baz qux xxx xx x yyy zzz abc todo tbd fixme none null nil
    undefined nan true false yes no off int integer bool boolean number float object any unknown
    void bytes array list dict map optional required default redacted removed hidden masked
    omitted elided censored sanitized secretstr encrypted unset empty blank missing postgres
    postgresql mysql mariadb redis mongo mongodb minio minioadmin rabbitmq elastic localhost
    local dev prod staging db database app service server github gitlab openai anthropic aws
    google azure slack stripe variable var env environment config settings option param
    parameter arg argument field input output strong very super long random generated invalid
    valid expired correct wrong same new old current bearer basic something whatever anything
    hash digest header cookie session plain real actual prompt interpolate readonly static const
    mypassword mysecret mytoken yourpassword somepassword yourtoken repo org owner host path ref
    protected function class import export return await self cls 密码 密钥 口令 令牌 您的 你的 示例
    """
)
"""Words that documentation and code use in place of a secret."""

PLACEHOLDER_MARKS = _words(
    """
    your example changeme placeholder redacted dummy sample insert replace xxxx todo
    """
)
"""Any of these makes a value a placeholder, whatever stands beside it."""

FUNCTION_WORDS = _words(
    """
    the a an is are was were be been must should can cannot could will would may not no at of to
    in on for with from by your you my our their it its this that these those please enter
    forgot reset invalid incorrect wrong missing required least characters match matches do does
    don't use using used when if and or but than then via per show hide new current confirm
    repeat again forgotten change changed updated expired empty only
    """
)
"""Words of sentences: a message to people has one, a passphrase has none."""
