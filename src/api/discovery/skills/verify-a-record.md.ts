/** SKILL.md, which the service publishes; a test runs its commands against a running service. */
export const VERIFY_A_RECORD = `---
name: verify-a-record
description: Looks up one consent record in Consent Ledger by its token, id or proof hash, and tells whether it is unchanged, sealed and time-stamped. Use when someone asks whether a consent is genuine, still stored, or what its check means.
license: Apache-2.0
compatibility: Needs the URL of a Consent Ledger service and curl; for the second way an API key of the site.
metadata:
  title: Verify a record
---

# Verify a record

The service recomputes everything from the stored text of a record and answers what holds. That is the word of the service: whoever does not trust it
exports an evidence package and checks that instead (the skill check-a-package).

## What you need

- \`CONSENT_LEDGER_URL\`: the origin that this file came from.
- \`RECORD\`: the record's \`consent_token\` (\`ct_...\`). Its id (a UUID) or proof hash (64 hex digits) will do as well.

## Anyone may ask

~~~sh
curl -sS --get "$CONSENT_LEDGER_URL/api/v1/public/consents/verify" --data-urlencode "token=$RECORD"
~~~

For an id use \`id=\`, for a proof hash \`proof_hash=\`. The answer names no person. 404 \`CONSENT_NOT_FOUND\`: there is no such record (a new one appears within
seconds). 429: wait for \`Retry-After\`.

With \`"source": "server"\` the service speaks of a record of its own. With \`"source": "client_token"\` it only repeats what a cookie says, no record stands behind it,
and \`valid\` is false: anyone can write such a cookie.

## With the site's API key

\`CONSENT_LEDGER_KEY\` is any key of the site. It is read from standard input here, because other users of a machine see argument lists.

~~~sh
printf 'X-API-Key: %s' "$CONSENT_LEDGER_KEY" | curl -sS -H @- "$CONSENT_LEDGER_URL/tool/v1/consents/verify/$RECORD"
~~~

A record of another site is answered like one that does not exist.

## What the answer means

| Member | Meaning |
|---|---|
| \`valid\` | No check that can be made has failed: \`hash_valid\` is true, \`merkle_valid\` is not false, and the stored columns, the configuration and erasures agree with the record. |
| \`hash_valid\` | The record's text is the one that was accepted: its HMAC under the tenant's proof key is the stored proof hash. |
| \`merkle_valid\` | Its place in its batch and the batch's place in the signed ledger are proved; null while it waits for a batch. |
| \`is_tsa_stamped\` | A time-stamp authority has stamped a checkpoint that covers it. False in the first minutes; that is no fault. |
| \`is_anonymized\` | The personal values were erased. The proof stays, and \`valid\` stays true. |
| \`timestamp\` | (public answer) the time by which the record existed, as the authority attests; \`created_at\` is the service's own claim. |

\`valid\` does not say that the consent still holds: look at \`decision\` and \`valid_until\`, and whether a later record withdraws it. Nor does it say who the person
was. If \`valid\` is false for a record of the server, keep the answer and tell the operator: stored evidence was altered.
`;
