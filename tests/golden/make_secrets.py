"""Makes secrets.json: which texts the plugins of detect-secrets find something in.

Run: python tests/golden/make_secrets.py, in an environment with detect-secrets (and nothing of ours);
it keeps the list of differences that the file has. No key in it was ever anybody's: all are random.
"""

# ruff: noqa: E501, PERF403 - one line a kind reads best

import importlib
import importlib.metadata
import inspect
import json
import pkgutil
import random
import string
from collections.abc import Iterator
from pathlib import Path

import detect_secrets.plugins
from detect_secrets.plugins.base import BasePlugin
from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin

PLACE = Path(__file__).with_name("secrets.json")
LOWER, UPPER, DIGIT = string.ascii_lowercase, string.ascii_uppercase, string.digits
WORD = LOWER + UPPER + DIGIT
HEX = "0123456789abcdef"
GENERATOR = random.Random(0)


def some(characters: str, count: int) -> str:
    return "".join(GENERATOR.choices(characters, k=count))


def token(header: str, payload: str) -> str:
    import base64

    parts = (base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (header, payload))
    return ".".join(parts) + "." + some(WORD, 43)


def texts() -> dict[str, tuple[tuple[str, ...], list[str]]]:
    """By plugin: our detectors, and texts to try."""
    secret = some(WORD, 24)
    return {
        "ArtifactoryDetector": (("artifactory_token",), [
            f"token: AKC{some(WORD, 10)}9", f"AKC{some(WORD, 30)}1 ", f"AP1{some(WORD, 8)}2", f"=APB{some(WORD, 20)}3",
            "AKC123", f"xAKC{some(WORD, 12)}", "APPLICATIONS", "AP1short", f'"AKC{some(WORD, 12)}4"',
        ]),
        "AWSKeyDetector": (("aws_access_key", "aws_secret_key"), [
            f"AKIA{some(UPPER + DIGIT, 16)}", f"ASIA{some(UPPER + DIGIT, 16)} at the start",
            f"id ABIA{some(UPPER + DIGIT, 16)}", f"A3TX{some(UPPER + DIGIT, 16)}", f"AKIA{some(UPPER, 15)}", "AKIATOOSHORT",
            f"akia{some(LOWER, 16)}", f"aws_secret_key = '{some(WORD + '/+', 40)}'", f'aws key "{some(WORD, 40)}"',
            f"aws_secret_access_key={some(WORD, 40)}", f"aws_token = '{some(WORD, 39)}'",
        ]),
        "AzureStorageKeyDetector": (("azure_storage_key",), [
            f"AccountKey={some(WORD + '+/', 86)}==", f"DefaultEndpointsProtocol=https;AccountKey={some(WORD, 86)}==;",
            f"AccountKey={some(WORD, 40)}", "AccountKey=",
        ]),
        "BasicAuthDetector": (("basic_auth",), [
            f"https://jane:{secret}@acme.io/x", f"ftp://root:{some(WORD, 8)}@10.0.0.1", "https://acme.io/a:b@c",
            "https://jane@acme.io", "postgres://app:Zk3.pw-x_1@db:5432/main", "http://a:@b", "see http://acme.io: mail a@b.c",
            "https://user:<password>@acme.io",
        ]),
        "CloudantDetector": (("cloudant_credentials",), [
            f"cloudant_password='{some(HEX, 64)}'", f"cl_key = {some(LOWER, 24)}", f"cloudant_pw: {some(HEX, 64)}",
            f"https://acme:{some(HEX, 64)}@acme.cloudant.com", f"https://acme:{some(LOWER, 24)}@acme.cloudant.com",
            f"cloudant_password='{some(HEX, 40)}'", f"https://acme:{some(HEX, 64)}@acme.example.com",
        ]),
        "DiscordBotTokenDetector": (("discord_token",), [
            f"M{some(WORD, 23)}.{some(WORD, 6)}.{some(WORD, 27)}", f"bot N{some(WORD, 25)}.{some(WORD, 6)}.{some(WORD, 27)}",
            f"M{some(WORD, 20)}.{some(WORD, 6)}.{some(WORD, 27)}", f"Z{some(DIGIT, 23)}.{some(WORD, 6)}.{some(WORD, 27)}",
        ]),
        "GitHubTokenDetector": (("github_token",), [
            *(f"{kind}_{some(WORD, 36)}" for kind in ("ghp", "gho", "ghu", "ghs", "ghr")), f"ghx_{some(WORD, 36)}",
            f"ghp_{some(WORD, 30)}", f"(ghp_{some(WORD, 36)})",
        ]),
        "GitLabTokenDetector": (("gitlab_token",), [
            *(f"{kind}-{some(WORD, 20)}" for kind in ("glpat", "gldt", "glft", "glsoat", "glrt", "glcbt")),
            f"GR1348941{some(WORD, 20)}", f"glimt-{some(WORD, 25)}", f"glptt-{some(WORD, 40)}", f"glagent-{some(WORD, 50)}",
            f"gloas-{some(WORD, 64)}", f"glpat-{some(WORD, 10)}", "glpat-short", f"glxyz-{some(WORD, 20)}",
        ]),
        "IbmCloudIamDetector": (("ibm_cloud_key",), [
            f"ibm_cloud_iam_api_key = {some(WORD, 44)}", f"apikey: '{some(WORD, 44)}'", f"password={some(WORD, 44)}",
            f"ibm_key = {some(WORD, 43)}", f"iam_token: {some(WORD, 45)}", "api_key = none",
        ]),
        "IbmCosHmacDetector": (("ibm_storage_key",), [
            f"secret_access_key = {some(HEX, 48)}", f"cos_hmac_secret_key: {some(HEX, 48)}", f"secret_key='{some(HEX, 48)}'",
            f"secret_key='{some(HEX, 40)}'", f"access_key='{some(HEX, 48)}'",
        ]),
        "JwtTokenDetector": (("json_web_token",), [
            token('{"alg":"HS256","typ":"JWT"}', '{"sub":"1"}'), "at " + token('{"alg":"RS256"}', '{"a":[1,2]}') + ".",
            "eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9", "eyJub.eyJub.x", "eyJhbGciOiJIUzI1NiJ9.abc.def",
        ]),
        "KeywordDetector": (("keyword_assignment",), [
            f'password = "{secret}"', f"api_key: '{secret}'", f'secret => "{secret}"', f'my_password == "{secret}"',
            f'if ("{secret}" == my_password)', f"PASSWD := '{secret}'", f'private_key "{secret}";', f'db_pass="{secret}"',
            f"password = {secret}", f"password={secret}", "the password must be long", "Password: 8 characters",
            'password = ""', "client_key = `a1b2c3d4e5`", 'password = "<your password>"', "pwd='hunter2'",
        ]),
        "MailchimpDetector": (("mailchimp_key",), [
            f"{some(HEX, 32)}-us1", f"{some(LOWER + DIGIT, 32)}-us20", f"{some(HEX, 30)}-us1", f"{some(HEX, 32)}-uk1",
        ]),
        "NpmDetector": (("npm_token",), [
            f"//registry.npmjs.org/:_authToken=npm_{some(WORD, 36)}", f"//r.acme.io/x/:_authToken={some(HEX, 8)}-{some(HEX, 4)}-{some(HEX, 4)}-{some(HEX, 4)}-{some(HEX, 12)}",
            f"npm_{some(WORD, 36)}", "//registry.npmjs.org/:_authToken=$TOKEN", "npm_config_registry",
        ]),
        "OpenAIDetector": (("api_key",), [
            f"sk-{some(WORD, 20)}T3BlbkFJ{some(WORD, 20)}", f"sk-proj-{some(WORD, 40)}", f"sk-{some(WORD, 10)}", "ask-me-anything-about-cats",
        ]),
        "PrivateKeyDetector": (("private_key",), [
            *(f"-----BEGIN {kind} KEY-----\nMIIE" for kind in ("DSA PRIVATE", "EC PRIVATE", "OPENSSH PRIVATE", "RSA PRIVATE", "PRIVATE")),
            "-----BEGIN PGP PRIVATE KEY BLOCK-----", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "PuTTY-User-Key-File-2: ssh-rsa",
            "-----BEGIN PUBLIC KEY-----", "BEGIN RSA PRIVATE KEY", "-----BEGIN CERTIFICATE-----",
        ]),
        "PypiTokenDetector": (("pypi_token",), [
            f"pypi-AgEIcHlwaS5vcmc{some(WORD, 70)}", f"pypi-AgENdGVzdC5weXBpLm9yZw{some(WORD, 90)}", f"pypi-AgEIcHlwaS5vcmc{some(WORD, 20)}",
            f"pypi-{some(WORD, 90)}",
        ]),
        "SendGridDetector": (("sendgrid_key",), [
            f"SG.{some(WORD, 22)}.{some(WORD, 43)}", f"SG.{some(WORD, 20)}.{some(WORD, 43)}", "SG.1.2",
        ]),
        "SlackDetector": (("slack_token", "slack_webhook"), [
            *(f"xox{kind}-{some(DIGIT, 11)}-{some(DIGIT, 11)}-{some(WORD, 24)}" for kind in "abposr"), f"XOXB-1-{some(WORD, 10)}",
            f"https://hooks.slack.com/services/T{some(UPPER, 8)}/B{some(UPPER, 8)}/{some(WORD, 24)}", "https://hooks.slack.com/services/",
            "xoxb-token", "xoxq-1-a",
        ]),
        "SoftlayerDetector": (("softlayer_credentials",), [
            f"softlayer_api_key = {some(HEX, 64)}", f"sl_password: '{some(HEX, 64)}'", f"https://api.softlayer.com/soap/v3/{some(HEX, 64)}",
            f"https://api.softlayer.com/soap/v3.1/{some(LOWER, 64)}", f"sl_key = {some(HEX, 60)}",
        ]),
        "SquareOAuthDetector": (("square_token",), [
            f"sq0csp-{some(WORD, 43)}", f"sq0csp-{some(WORD, 10)}", f"sq0atp-{some(WORD, 22)}", "sq0csp",
        ]),
        "StripeDetector": (("stripe_key",), [
            f"sk_live_{some(WORD, 24)}", f"rk_live_{some(WORD, 24)}", f"sk_test_{some(WORD, 24)}", f"sk_live_{some(WORD, 10)}",
            f"pk_live_{some(WORD, 24)}",
        ]),
        "TelegramBotTokenDetector": (("telegram_token",), [
            f"{some('123456789', 9)}:{some(WORD, 35)}", f"bot {some('123456789', 10)}:{some(WORD, 35)} x", f"123:{some(WORD, 35)}",
            f"{some('123456789', 9)}:{some(WORD, 34)}", f"{some('123456789', 8)}:{some(WORD, 60)}",
        ]),
        "TwilioKeyDetector": (("twilio_key",), [
            f"AC{some(HEX, 32)}", f"SK{some(HEX, 32)}", f"AC{some(HEX, 30)}", f"sid=AC{some(LOWER, 32)}", f"AC{some(UPPER, 32)}",
        ]),
        "HexHighEntropyString": (("hex_high_entropy",), [
            f"'{some(HEX, 32)}'", f'"{some(HEX, 64)}"', f"'{'ab' * 16}'", f"'{some(DIGIT, 16)}'", f"'{some(DIGIT, 40)}'",
            f"'{some('01', 32)}'", "'a1b2c3d4'", f"'{some(HEX, 16)}'", "'0123456789abcdef0123456789abcdef'",
        ]),
        "Base64HighEntropyString": (("base64_high_entropy",), [
            f"'{some(WORD + '+/', 64)}'", f'"{some(WORD, 40)}"', f"'{some(WORD, 20)}'", f"'{some(LOWER, 40)}'", f"'{'abcd' * 10}'",
            "'supercalifragilisticexpialidocious'", f"'{some(WORD + '-_', 43)}='", f"'{some(HEX, 64)}'",
        ]),
    }  # fmt: skip


def plugins() -> dict[str, BasePlugin]:
    made = {}
    for module in pkgutil.iter_modules(detect_secrets.plugins.__path__):
        for name, one in vars(importlib.import_module(f"detect_secrets.plugins.{module.name}")).items():
            if inspect.isclass(one) and issubclass(one, BasePlugin) and not inspect.isabstract(one):
                made[name] = one
    made = {
        name: one for name, one in made.items() if getattr(one, "secret_type", None) and not name.endswith("Plugin")
    }
    return {name: one() for name, one in sorted(made.items()) if isinstance(one.secret_type, str)}


def hits(plugin: BasePlugin, text: str) -> bool:
    if isinstance(plugin, HighEntropyStringsPlugin):
        return bool(plugin.analyze_line("text", text, 1))
    return bool([found for found in plugin.analyze_string(text) if found])


def cases(plugin: BasePlugin, tried: list[str]) -> Iterator[tuple[str, bool]]:
    yield from ((text, hits(plugin, text)) for text in tried)


def main() -> None:
    known = json.loads(PLACE.read_text("utf-8")) if PLACE.exists() else {}
    there, tried = plugins(), texts()
    made = {
        name: {"ours": tried[name][0], "cases": list(cases(there[name], tried[name][1]))}
        for name in there
        if name in tried
    }
    content = {
        "library": "detect-secrets",
        "version": importlib.metadata.version("detect-secrets"),
        "made_by": "tests/golden/make_secrets.py",
        "recognizers": made,
        "all_recognizers": sorted(there),
        "left_out": known.get("left_out", {}),
        "differences": known.get("differences", []),
    }
    PLACE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
