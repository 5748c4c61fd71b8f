//! The table of the forms in which people say a secret: a word for it, what joins the two, and a value that no word of a sentence looks like.
//!
//! How strange a value must be depends on how often its word stands before something else ([`Looks`]): `the password is …` tells a value,
//! `the key is …` mostly a thing.

use super::form::Form::{Doubtful, Spoken};
use super::form::{Looks, Rule, rule};
use super::rules::WRITTEN;

/// A value: no bracket, no sign of a list, and at its beginning no sign of a variable or a path.
macro_rules! value {
    () => {
        r#"["'`]?([^\s"'`\\,;<>\[\]{}()$*/][^\s"'`\\,;<>\[\]{}()]{5,255})"#
    };
}
/// What may stand between a word and what joins it to its value: what the secret is for.
macro_rules! purpose {
    () => {
        r"(?i)(?:\s(?:for|of|to|on|at|del?|para|pour|do|da|van|voor|di|der|des|du|für|zum|zur)\s[^\n.;:?!=]{1,60}?)?"
    };
}
/// What joins a word to its value.
macro_rules! joint {
    () => {
        r"(?:\s(?:is|was|are|es|era|est|ist|lautet|é|è)\s?:?\s{1,4}|\s{0,2}[:=]\s{0,4})(?:now\s)?"
    };
}

/// The forms of [`super::rules`], then these: of two that take the same bytes the earlier one names them.
pub(super) const RULES: &[Rule] = &ALL;

const ALL: [Rule; WRITTEN.len() + EVERYDAY.len()] = {
    let mut all = [WRITTEN[0]; WRITTEN.len() + EVERYDAY.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < WRITTEN.len() { WRITTEN[at] } else { EVERYDAY[at - WRITTEN.len()] };
        at += 1;
    }
    all
};

const EVERYDAY: &[Rule] = &[
    rule(
        "said",
        &[
            "password",
            "passwort",
            "kennwort",
            "passphrase",
            "passcode",
            "mot de passe",
            "api key",
            "token",
            " pw",
            "wifi key",
            "wi-fi key",
        ],
        Doubtful(
            r#"(?i)()(?:\s(?:of|for|on|to|der|des|du|de|pour|für)\s[^\n.;:?!=]{1,60}?(?:\s(?:is|was|ist|lautet|est)\s?:?\s|:\s{1,4})|\s(?:is|was|ist|lautet|est)\s?:?\s|\s(?:(?:is|was|has\sbeen)\s)?(?:(?:now\s)?(?:changed|set|reset|rotated)\s)?to\s)(?:now\s)?["'`]?([^\s"'`\\,;<>\[\]{}()$*]{6,256})"#,
        ),
        &[
            "root password changed to {a12} yesterday",
            "Passwort für den Server lautet {a12}",
            "Kennwort ist {a12}",
            "the passphrase is: {a12}",
            "passcode for the door: {a12}",
            "mot de passe est {a12}",
            "API key is {a20}",
            "token is {a20}",
            "my pw is {a12}",
            "wifi key is {a12}",
            "wi-fi key is {a12}",
        ],
        &[
            "the token changed to a longer one",
            "password is in the vault",
            "the token is signed with sha256",
            "the password of ann2 is secret",
            "the api key is $API_KEY2",
            "the token for step 3 is wrong",
        ],
    ),
    rule(
        "said",
        &["password", "passwort", "kennwort", "passphrase", "passcode", "mot de passe"],
        Doubtful(r#"()\s["'`]?([^\s"'`\\,;.<>\[\]{}()$*/]{8,256})"#),
        &[
            "user deploy, password {a12}",
            "Passwort {a12}",
            "Kennwort {a12}",
            "passphrase {a12}",
            "passcode {a12}",
            "mot de passe {a12}",
        ],
        &["password managers", "the password OAuth2.0 needs", "password policy"],
    ),
    rule(
        "said",
        &["passwort", "passcode", "mot de passe", "api key"],
        Doubtful(r#"()\s{0,2}[:=]\s{0,4}["'`]?([^\s"'`\\,;<>\[\]{}()$*]{6,256})"#),
        &["Passwort: {a12}", "passcode: {a12}", "mot de passe : {a12}", "the api key: {a20}"],
        &["Passwort: geheim", "api key: rotated"],
    ),
    rule(
        "assigned",
        &["pass", "pwd"],
        Doubtful(r#"()\\?["']?\s{0,4}(?::=|=>|=|:)\s{0,4}\\?["']?([^\s"'\\,;<>\[\]{}()$*]{6,256})"#),
        &["DB_PASS={a12}", "MYSQL_PWD={a12}"],
        &["PASS=$DB_PASS1", "the tests pass: 964", "pass: true"],
    ),
    rule(
        "assigned",
        &[
            "password",
            "passwd",
            "passphrase",
            "secret",
            "token",
            "api_key",
            "api-key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "private_key",
            "private-key",
            "privatekey",
        ],
        Doubtful(r#"([A-Za-z0-9_-]{0,20})\\?["']?\s{0,4}(?::=|=>|=|:)\s{0,4}\\?["']?([^\s"'\\,;<>\[\]{}()$*]{8,256})"#),
        &[
            "DB_PASSWORD={a12}",
            "passwd: {a12}",
            "passphrase => {a12}",
            "client_secret = '{a20}'",
            "\"token\": \"{a20}\"",
            "api_key={a20}",
            "api-key: {a20}",
            "apikey={a20}",
            "aws_secret_access_key={a40}",
            "access-key={a20}",
            "accessKey={a20}",
            "private_key={a20}",
            "private-key={a20}",
            "privateKey={a20}",
        ],
        &[
            "password: correct horse battery",
            "password=$PASSWORD",
            "token_url: https://auth2.example.com/v1/token",
            "private_key_path: /etc/ssl/private/host2.key",
            "private_key: ~/.ssh/id_ed25519",
            "TOKEN_TTL=3600seconds",
            "secret_name: web2-credentials",
            "token=eleven",
            "token_type: bearer2token",
            "PASSWORD_MIN_LENGTH=12characters",
            "password_hash_algorithm: argon2id",
            "password_hashing_scheme: pbkdf2-sha256",
            "tokenizer: bert-base-uncased-v2",
            "tokenizer_model = o200k_base2",
            "secretary: ann2@example.invalid",
        ],
    ),
    rule(
        "said",
        &["pass", "pw", "pwd", "mdp", "contraseña", "contrasena", "senha", "wachtwoord", "la password"],
        Spoken(Looks::Made, concat!(purpose!(), joint!(), value!())),
        &[
            "the db pass is {a12} on db2",
            "the pw for staging: {a12}",
            "pwd is {a12}",
            "le mdp est {a12}",
            "la contraseña de la base es {a12}",
            "contrasena: {a12}",
            "a senha é {a12}",
            "het wachtwoord voor de router is {a12}",
            "la password è {a12}",
        ],
        &[
            "pass is short for passenger2",
            "la contraseña es obligatoria",
            "the bypass is on route66a",
            "het wachtwoord is verlopen",
        ],
    ),
    rule(
        "said",
        &["パスワード", "パスコード", "暗証番号"],
        Spoken(Looks::Made, r"\s?(?:は|が|:|=|：|＝)\s?([!#-&+\-.0-9:=?-Z^_a-z~][!#-&*+\-./0-9:=?-Z^_a-z~]{5,255})"),
        &["パスワードは {a12} です", "パスコード：{a12}", "暗証番号は{a12}です"],
        &["パスワードは12文字以上です", "パスワードはVaultにあります"],
    ),
    rule(
        "said",
        &["secret", "clave", "chave", "schlüssel", "key", "clé", "秘密鍵", "apiキー"],
        Spoken(
            Looks::Strong,
            concat!(
                purpose!(),
                r"(?:\s(?:de\s(?:acceso|api)|api|secr(?:e|è)te|secreta))?(?:\s(?:is|was|es|era|est|ist|lautet|é|è)\s?:?\s{1,4}|\s{0,2}:\s{1,4}|\s=\s|\s?(?:は|：|＝)\s?)(?:now\s)?",
                value!()
            ),
        ),
        &[
            "the secret is {a20}",
            "la clave es {a12}",
            "a chave é {a20}",
            "der geheime Schlüssel ist {a20}",
            "the encryption key is {a20}",
            "la clé API est {a20}",
            "秘密鍵は {a20} です",
            "APIキーは {a20} です",
        ],
        &[
            "the secret is base64-encoded-v2",
            "the sort key is created_at2",
            "the secret is in vault2/prod",
            "the key is composed of user42",
            "la clave es la paciencia2",
            "the monkey is aB3dE5gH7jK9mN1pQ2rS",
        ],
    ),
    rule(
        "said",
        &["api key", "api-key", "access key", "secret key", "client secret", "token", "secret"],
        Spoken(
            Looks::Strong,
            r#"(?i)(?:\s(?:for|of|to)\s[^\n.;:?!=]{1,40}?)?\s["'`]?([A-Za-z0-9][A-Za-z0-9+/=_-]{15,255})"#,
        ),
        &[
            "API key {x32} for the weather service",
            "API-Key {x32}",
            "Secret access key {a40}",
            "secret key {a40}",
            "client secret for GitHub {a20}",
            "refresh token {a24}",
            "webhook secret {a20}",
        ],
        &["API key rotation_of_2026", "client secret authentication-flow2", "the token proc_macro2_TokenStream"],
    ),
    rule(
        "said",
        &[
            "login",
            "credentials",
            "creds",
            "user",
            "username",
            "zugangsdaten",
            "identifiants",
            "usuario",
            "credenciales",
            "ログイン",
        ],
        Spoken(
            Looks::Odd,
            r#"(?i)(?:\s(?:is|are|sind|sont|son|es|ist|est)\s|\s?[:=]\s?|\s?(?:は|：)\s?|\s)[A-Za-z0-9._@-]{1,64}(?:\s?/\s?|\s(?:with|mit|avec|con|and|und|et|y)\s)(?:[a-z]{2,12}\s?[:=]?\s)?["'`]?([^\s"'`\\,;<>\[\]{}()/]{6,256})"#,
        ),
        &[
            "login: admin / {a12}",
            "credentials are admin / {a12}",
            "creds: ops/{a12}",
            "user deploy with {a12}",
            "username: deploy / {a12}",
            "Zugangsdaten: admin / {a12}",
            "identifiants : admin / {a12}",
            "usuario: ana / {a12}",
            "credenciales: ana / {a12}",
            "ログイン: admin / {a12}",
        ],
        &["login: ann / department42", "user ann / laptop x1-carbon9", "credentials: see docs/access2.md"],
    ),
];
