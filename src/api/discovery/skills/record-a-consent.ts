/** SKILL.md, which the service publishes; a test runs its program and commands against a running service. */
export const RECORD_A_CONSENT = `---
name: record-a-consent
description: Records a consent (cookie choice, document acceptance, opt-out) that a person gave to you or to your program in Consent Ledger, over its signed server-to-server API. Use to store a person's decision as evidence, or to write or repair a program that does.
license: Apache-2.0
compatibility: Needs the URL of a Consent Ledger service, an API key of a site with the scope write, a user of the tenant with the role api_user, and Python 3.9 or later (standard library only).
metadata:
  title: Record a consent
---

# Record a consent

A record states that a person made a decision about a text that was in force. It is evidence, cannot be changed, and is stamped. Record only a decision
that a person has made, when it is made. Never record an assumed decision, and never an invented one to test a site in production.

## What you need

[Set a site up](../set-a-site-up/SKILL.md#what-to-ask-a-person-for) says whom to ask for what.

- \`CONSENT_LEDGER_URL\`: the origin of this file, such as \`https://consent.example.org\`.
- \`CONSENT_LEDGER_KEY\`: an API key of the site (\`svc_live_...\`) with the scope write, from the operator.
- \`CONSENT_LEDGER_USER\` and \`CONSENT_LEDGER_PASSWORD\`: a user with the role \`api_user\`, whom an owner or admin of the tenant invites.

Keep the last three out of argument lists, logs and repositories.

An agent or a backend records over the server-to-server routes (\`/tool/v1/s2s/...\`). The route for browsers takes address and user agent of the connection
as those of the person. An agent that uses it makes its own address evidence about someone else.

## How a request is signed

Sign in with \`POST /api/v1/auth/login\`, and send the access token as \`Authorization: Bearer\`. Every request names the program in \`User-Agent\`. Every POST
below \`/tool/v1\` has four more headers beside \`Content-Type: application/json\`:

- \`X-API-Key\`: the key.
- \`X-Timestamp\`: Unix time in seconds, within 300 of the server's.
- \`X-Nonce\`: 8 to 128 characters that were never used before, such as a UUID.
- \`X-Signature\`: lower-case hex of HMAC-SHA256, with the API key as key, over method, path without query, timestamp, nonce and lower-case hex SHA-256 of
  the body, joined by single line feeds.

Send exactly the bytes that were hashed.

## The program

Save this as \`record_consent.py\`:

~~~python
"""Shows a text that is in force, and records what a person decided about it. python3 record_consent.py --help"""
import argparse, hashlib, hmac, json, os, sys, time, urllib.error, urllib.request, uuid
from urllib.parse import quote

BASE = os.environ["CONSENT_LEDGER_URL"].rstrip("/")
KEY = os.environ["CONSENT_LEDGER_KEY"]
USER = {"email": os.environ["CONSENT_LEDGER_USER"], "password": os.environ["CONSENT_LEDGER_PASSWORD"]}


def content_of(answer):
    try:
        return json.load(answer)
    except ValueError:
        return {"code": "UNEXPECTED_ANSWER", "message": "the answer is not JSON; check CONSENT_LEDGER_URL, and proxies in between"}


def call(method, path, body=None, bearer=None):
    headers = {"X-API-Key": KEY, "User-Agent": "record-a-consent/3 (Consent Ledger skill)", "Content-Type": "application/json"}
    if bearer is not None:
        headers["Authorization"] = "Bearer " + bearer
    if body is not None:
        timestamp, nonce = str(int(time.time())), str(uuid.uuid4())
        text = "\\n".join([method, path, timestamp, nonce, hashlib.sha256(body).hexdigest()])
        signature = hmac.new(KEY.encode(), text.encode(), hashlib.sha256).hexdigest()
        headers.update({"X-Timestamp": timestamp, "X-Nonce": nonce, "X-Signature": signature})
    try:
        request = urllib.request.Request(BASE + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, content_of(answer), None
    except urllib.error.HTTPError as refusal:
        return refusal.code, content_of(refusal), refusal.headers.get("Retry-After")
    except OSError as failure:
        return 503, {"code": "NO_ANSWER", "message": str(failure)}, None


def send(method, path, content=None, bearer=None):
    body = None if content is None else json.dumps(content).encode()
    for attempt in range(1, 6):
        # A retry is the same body, so the same idempotency key, with a new timestamp, nonce and signature.
        status, answer, retry_after = call(method, path, body, bearer)
        wait = int(retry_after) if (retry_after or "").isdigit() else attempt
        if (status not in (408, 425, 429) and status < 500) or wait > 60:
            break
        time.sleep(wait)
    if status >= 300 or "data" not in answer:
        fields = [f"{each['field']}: {each['message']}" for each in answer.get("errors", [])]
        after = [f"retry after {retry_after} seconds"] if retry_after else []
        sys.exit("\\n  ".join([f"refused with {status} {answer.get('code')}: {answer.get('message')}", *fields, *after]))
    return answer["data"]


def show(options):
    document = send("GET", f"/tool/v1/documents/{quote(options.document)}/active?language={quote(options.language)}")
    version = document["version"]
    shown = {"version": version["id"], "language": version["language"], "title": version["title"], "media_type": version["media_type"]}
    if document["kind"] == "cookie_policy":
        categories = send("GET", f"/tool/v1/config?language={quote(options.language)}")["categories"]
        shown["categories"] = [{name: each[name] for name in ("key", "required", "title", "purpose")} for each in categories]
    print(json.dumps({**shown, "content": document["content"]}, ensure_ascii=False, indent=2))


def record(options):
    config = send("GET", f"/tool/v1/config?language={quote(options.language)}")
    document = next((each for each in config["documents"] if each["version"]["id"] == options.version), None)
    if document is None:
        sys.exit("this version is not in force in this language: show the person the text again, and ask again")
    unknown = set(options.categories or {}) - {each["key"] for each in config["categories"]}
    if unknown:
        sys.exit("the site has no category " + ", ".join(sorted(unknown)) + ": it would not be recorded")
    consent = {
        "consent_type": options.consent_type,
        "decision": options.decision,
        "document_version_id": options.version,
        "visitor_id": options.visitor,
        "idempotency_key": options.idempotency_key,
        "source": "server",
    }
    if options.ip_address is not None:
        consent["ip_address"] = options.ip_address
    if options.categories is not None:
        consent["categories"] = options.categories
    bearer = send("POST", "/api/v1/auth/login", USER)["access_token"]
    if document["requires_approval_token"] and options.consent_type == "document_approval":
        minting = {"document_version_id": options.version, "subject": options.visitor}
        consent["approval_token"] = send("POST", "/tool/v1/s2s/approval-tokens", minting, bearer)["approval_token"]
    accepted = send("POST", "/tool/v1/s2s/consents", consent, bearer)
    print(json.dumps(accepted))

    # Accepted is durable; the read side follows a moment later.
    for _ in range(60):
        status, answer, _ = call("GET", "/tool/v1/consents/verify/" + accepted["consent_token"])
        if status == 200:
            break
        time.sleep(0.5)
    else:
        sys.exit("the record cannot be looked up yet")
    if not answer["valid"]:
        sys.exit("the record is not valid: tell the operator")


parser = argparse.ArgumentParser()
commands = parser.add_subparsers(required=True)
showing = commands.add_parser("show", help="print the active version of a document, for the person to read")
showing.add_argument("--document", default="cookie-policy", help="slug of the document")
showing.set_defaults(run=show)
recording = commands.add_parser("record", help="record what the person decided about that version")
recording.add_argument("--version", required=True, help="as show printed it")
recording.add_argument("--consent-type", default="cookie", choices=["cookie", "document_approval", "do_not_sell_opt_out", "objection"])
recording.add_argument("--decision", required=True, choices=["accepted", "rejected", "partial", "withdrawn"])
recording.add_argument("--categories", type=json.loads, help='such as {"necessary": true, "analytics": false}')
recording.add_argument("--visitor", required=True, help="your id of the person; not to be guessed by others")
recording.add_argument("--idempotency-key", required=True, help="one for each action of the person, the same in every retry")
recording.add_argument("--ip-address", help="of the person, if you know it; never your own")
recording.set_defaults(run=record)
for each in (showing, recording):
    each.add_argument("--language", default="en", help="the language of the text that the person reads")
options = parser.parse_args()
options.run(options)
~~~

## Run it

First print the text, and show it to the person. \`language\` states in which language there is one: if the person does not read it, do not ask.

~~~sh
python3 record_consent.py show --document cookie-policy --language en
~~~

Then record the decision about that version, and no other:

~~~sh
python3 record_consent.py record --version VERSION --decision partial --categories '{"necessary": true, "analytics": false}' --visitor visitor-4711 --idempotency-key banner-4711-1
~~~

It prints \`consent_token\` (keep it: by it the record is looked up), \`proof_hash\`, \`created_at\` and \`duplicate\`. The same idempotency key again gives the first
record once more, with \`duplicate\` true, for 24 hours, whatever else the request states: take another key for another action or person.

The acceptance of a document is the same with another type. If the document requires an approval token, the program mints one, and you vouch for the person:

~~~sh
python3 record_consent.py record --version VERSION --consent-type document_approval --decision accepted --visitor visitor-4711 --idempotency-key form-4711-1
~~~

An opt-out of sale is \`--consent-type do_not_sell_opt_out --decision accepted\` for the site's document about it, or else for its cookie policy. An
objection to what runs without consent is \`--consent-type objection --decision rejected\`, with each category that is objected to as false; taken back, it is
\`withdrawn\` without categories.

## When it is refused

| Answer | What to do |
|---|---|
| 401 \`INVALID_SIGNATURE\` | Compare the signed text with the list above; most often the body was serialised twice, or the path holds the query. |
| 401 \`TIMESTAMP_EXPIRED\` | Set the clock. |
| 401 \`INVALID_CREDENTIALS\` | The password or the address of the user is wrong: ask the operator. |
| 403 \`INSUFFICIENT_ROLE\` | The user is not an \`api_user\`: ask an owner or admin to invite one. |
| 403 \`INSUFFICIENT_SCOPE\` | The key only reads: ask the operator for one with the scope write. |
| 404 \`DOCUMENT_NOT_FOUND\` | The site has no such document: \`/tool/v1/documents/active\` lists those that it has. |
| 409 \`CONFIG_OUTDATED\` | The text has changed: show the person the new one, and ask again. |
| 422 | The lines below name each field. Nothing was recorded. |
| 408, 425, 429, 5xx | Wait for \`Retry-After\`, then send the same body again, signed anew. |

## Further

\`/openapi/tool-api.json\` describes every route with an example. For programs in Node there is the package \`@consent-ledger/node\`; for web pages, in which
the person decides, the script \`/sdk/consent.js\`.
`;
