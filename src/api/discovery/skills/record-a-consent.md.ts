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
"""Records one consent, and waits until it can be looked up. python3 record_consent.py --help"""
import argparse, hashlib, hmac, json, os, sys, time, urllib.error, urllib.request, uuid

BASE = os.environ["CONSENT_LEDGER_URL"].rstrip("/")
KEY = os.environ["CONSENT_LEDGER_KEY"]
USER = {"email": os.environ["CONSENT_LEDGER_USER"], "password": os.environ["CONSENT_LEDGER_PASSWORD"]}


def call(method, path, body=None, bearer=None):
    headers = {"X-API-Key": KEY, "User-Agent": "record-a-consent/2 (Consent Ledger skill)", "Content-Type": "application/json"}
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
            return answer.status, json.load(answer), None
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal), refusal.headers.get("Retry-After")
    except OSError as failure:
        return 503, {"code": "NO_ANSWER", "message": str(failure)}, None


def post(path, content, bearer=None):
    body = json.dumps(content).encode()
    for attempt in range(1, 6):
        # A retry is the same body, so the same idempotency key, with a new timestamp, nonce and signature.
        status, answer, retry_after = call("POST", path, body, bearer)
        if status not in (408, 425, 429) and status < 500:
            break
        time.sleep(float(retry_after or attempt))
    if status not in (200, 202):
        sys.exit(f"refused with {status} {answer['code']}: {answer['message']}")
    return answer["data"]


parser = argparse.ArgumentParser()
parser.add_argument("--decision", required=True, choices=["accepted", "rejected", "partial", "withdrawn"])
parser.add_argument("--categories", type=json.loads, help='such as {"necessary": true, "analytics": false}')
parser.add_argument("--visitor", required=True, help="your id of the person; not to be guessed by others")
parser.add_argument("--idempotency-key", required=True, help="one for each action of the person, the same in every retry")
parser.add_argument("--ip-address", help="of the person, if you know it; never your own")
parser.add_argument("--language", default="en", help="the language in which the person saw the text")
options = parser.parse_args()

status, config, _ = call("GET", f"/tool/v1/config?language={options.language}")
if status != 200:
    sys.exit(f"the configuration was refused with {status} {config['code']}: {config['message']}")
policy = next(each for each in config["data"]["documents"] if each["kind"] == "cookie_policy")
consent = {
    "consent_type": "cookie",
    "decision": options.decision,
    "document_version_id": policy["version"]["id"],
    "language": policy["version"]["language"],
    "visitor_id": options.visitor,
    "idempotency_key": options.idempotency_key,
    "source": "server",
}
if options.ip_address is not None:
    consent["ip_address"] = options.ip_address
if options.categories is not None:
    consent["categories"] = options.categories
bearer = post("/api/v1/auth/login", USER)["access_token"]
accepted = post("/tool/v1/s2s/consents", consent, bearer)
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
~~~

## Run it

~~~sh
python3 record_consent.py --decision partial --categories '{"necessary": true, "analytics": false}' --visitor visitor-4711 --idempotency-key banner-4711-1
~~~

It prints \`consent_token\` (keep it: by it the record is looked up), \`proof_hash\`, \`created_at\` and \`duplicate\`. The same idempotency key again gives the first
record once more, with \`duplicate\` true, for 24 hours.

## When it is refused

| Answer | What to do |
|---|---|
| 401 \`INVALID_SIGNATURE\` | Compare the signed text with the list above; most often the body was serialised twice, or the path holds the query. |
| 401 \`TIMESTAMP_EXPIRED\` | Set the clock. |
| 401 \`INVALID_CREDENTIALS\` | The password or the address of the user is wrong: ask the operator. |
| 403 \`INSUFFICIENT_ROLE\` | The user is not an \`api_user\`: ask an owner or admin to invite one. |
| 403 \`INSUFFICIENT_SCOPE\` | The key only reads: ask the operator for one with the scope write. |
| 409 \`CONFIG_OUTDATED\` | The text has changed: read \`/tool/v1/config\` again, show the person the new text, ask again. |
| 422 | The field is named in \`errors\`. Nothing was recorded. |
| 408, 425, 429, 5xx | Wait for \`Retry-After\`, then send the same body again, signed anew. |

## Beyond cookies

Documents that ask for it are approved with a one-time approval token, minted at \`/tool/v1/s2s/approval-tokens\`. \`/openapi/tool-api.json\` describes these
routes, each with an example. For programs in Node there is the package \`@consent-ledger/node\`; for web pages, in which the person decides, the script
\`/sdk/consent.js\`.
`;
