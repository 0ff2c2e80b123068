/** SKILL.md, which the service publishes; a test runs its commands against a running service. */
export const VERIFY_A_RECORD = `---
name: verify-a-record
description: Looks up one consent record in Consent Ledger by its token, id or proof hash, and states whether it is unchanged, sealed and stamped. Use when a user asks whether a consent is genuine or still stored, or what its check means.
license: Apache-2.0
compatibility: Needs the URL of a Consent Ledger service and curl; for the keyed request an API key of the site.
metadata:
  title: Verify a record
---

# Verify a record

The service recomputes everything from the stored text of a record and returns the result. The result is a statement of the service. A verifier who does
not trust the service exports an evidence package and checks that instead (the skill check-a-package).

## What you need

- \`CONSENT_LEDGER_URL\`: the origin that this file came from.
- \`RECORD\`: the record's \`consent_token\` (\`ct_...\`). Its id (a UUID) or proof hash (64 hex digits) also works.

## Without credentials

~~~sh
curl -sS -A 'verify-a-record (Consent Ledger skill)' --get "$CONSENT_LEDGER_URL/api/v1/public/consents/verify" --data-urlencode "token=$RECORD"
~~~

For an id use \`id=\`, for a proof hash \`proof_hash=\`. The response contains no personal value. 404 \`CONSENT_NOT_FOUND\`: no record matches (a new
one can be found within seconds). 429: wait for \`Retry-After\`.

\`"source": "server"\` is the result for a stored record. \`"source": "client_token"\` only repeats the content of a cookie for which the service has no record.
Then \`valid\` is false, because anyone can write such a cookie.

## With the site's API key

\`CONSENT_LEDGER_KEY\` is any key of the site. The command reads it from standard input, because other users of a machine can see argument lists.

~~~sh
printf 'X-API-Key: %s' "$CONSENT_LEDGER_KEY" | curl -sS -A 'verify-a-record (Consent Ledger skill)' -H @- "$CONSENT_LEDGER_URL/tool/v1/consents/verify/$RECORD"
~~~

A record of another tenant returns the same response as one that does not exist.

## Members of the response

| Member | Meaning |
|---|---|
| \`valid\` | No possible check failed: \`hash_valid\` is true, \`merkle_valid\` is not false, and the stored columns, the configuration and erasures agree with the record. |
| \`hash_valid\` | The record's text is the one that was accepted: its HMAC under the tenant's proof key is the stored proof hash. |
| \`merkle_valid\` | Its position in its batch and the position of the batch in the signed ledger are proved; null while it is in no batch. |
| \`is_tsa_stamped\` | A time stamp authority has stamped a checkpoint that covers it. False in the first minutes, which is no error. |
| \`is_anonymized\` | The personal values were erased. The proof and \`valid\` remain true. |
| \`timestamp\` | (public response) the time by which the record existed, as the authority attests; \`created_at\` is the service's own claim. |

\`valid\` does not state that the consent is in force: check \`consent_type\`, \`decision\` and \`valid_until\`, and whether a later record withdraws it. It does not state who the
person was. If \`valid\` is false for a record of the server, keep the response and inform the operator: stored evidence was altered.
`;
