/** SKILL.md, which the service publishes; a test follows it. */
export const RECEIVE_WEBHOOKS = `---
name: receive-webhooks
description: Receives the webhooks of Consent Ledger in a backend (recorded and withdrawn consents, erasures, time stamps), verifies their signatures, tries the receiver with a test message, and finds why a message did not arrive. Use to connect a system that must know of consents, or to repair one.
license: Apache-2.0
compatibility: Needs the URL of a Consent Ledger service, a receiver with an https address that the service can reach, and Node 20 with the package @consent-ledger/node, or another language with HMAC-SHA-256.
metadata:
  title: Receive webhooks
---

# Receive webhooks

The service posts a signed message for each event of a site, at least once and in order. A message names records and contains no personal value.
[Set a site up](../set-a-site-up/SKILL.md#what-to-ask-a-person-for) says whom to ask for \`WEBHOOK_SECRET\`, \`SITE\` and \`TOKEN\`.

## The receiver

Until the package is in the npm registry, ask the person for \`consent-ledger-node-….tgz\`, which \`npm pack -w sdk/node\` makes in the repository of the
service. Save this as \`receiver.mjs\`:

~~~js
import { createServer } from 'node:http';
import { env } from 'node:process';
import { verifyWebhook } from '@consent-ledger/node';

const secret = env.WEBHOOK_SECRET;
const seen = new Set(); // keep these ids in your database

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let event;
  try {
    // Verify the bytes as received: a body that was parsed and serialised again has another signature.
    event = verifyWebhook(Buffer.concat(chunks), request.headers, secret);
  } catch (error) {
    console.error(error.message);
    response.writeHead(400).end();
    return;
  }
  if (!seen.has(event.id)) {
    seen.add(event.id);
    console.log(event.type, JSON.stringify(event.data));
  }
  response.writeHead(204).end();
}).listen(Number(env.PORT ?? 3001), '127.0.0.1');
~~~

Answer with 2xx within 10 seconds, and do slow work afterwards. Process each \`event.id\` once. On \`consent.erased\`, delete your copy of the personal values of
\`data.consent_token\`; on \`consent.withdrawn\`, stop what the consent permitted. Every webhook also gets \`webhook.test\`.

In other languages: the headers are \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`. The signature is \`v1,\` and the base64 of HMAC-SHA-256 over
\`id.timestamp.body\`; the key is the base64 after \`whsec_\`. The header can have two signatures, separated by a space, and one of them must match. Compare them
in constant time, and refuse a timestamp that is more than 300 seconds away. Libraries for [Standard Webhooks](https://www.standardwebhooks.com) do it.

## Add the webhook

An owner or admin adds it in the dashboard under *Webhooks*, or by these commands. The answer has the secret, once.

~~~sh
panel() { # METHOD PATH [BODY]
  curl -sS --fail-with-body -X "$1" "$CONSENT_LEDGER_URL/api/v1$2" -H "Authorization: Bearer $TOKEN" \${3:+-H 'Content-Type: application/json' -d "$3"}
}
panel POST "/sites/$SITE/webhooks" '{"url":"'"$RECEIVER_URL"'","events":["consent.recorded","consent.withdrawn","consent.erased"]}'
~~~

The address begins with \`https\`, and its host has a public address: the service refuses another one (422 at \`url\`). For a receiver on your own machine, use a
secret test key and \`npx consent-ledger listen\`, which sends it the webhooks of test records and needs none of the commands here
([how](/docs/webhooks.md#on-your-own-machine)), or a tunnel.

## Try it

\`WEBHOOK\` is the \`id\` in the answer above.

~~~sh
panel POST "/sites/$SITE/webhooks/$WEBHOOK/test"
panel GET "/sites/$SITE/webhooks/$WEBHOOK/deliveries?limit=5"
~~~

The receiver prints \`webhook.test\`, and the delivery is \`delivered\`. At most five tests a minute are sent.

## When nothing arrives

| \`status\` and \`error\` of the delivery | What to do |
|---|---|
| no delivery | Nothing happened that the webhook asks for, or the event is not in the log yet: wait a moment. |
| \`retrying\`, \`the receiver answered 400\` | The receiver refused the signature: it has the wrong secret, or verifies a body that was parsed. |
| \`retrying\`, \`the receiver answered 404\` or 3xx | The path is wrong. Redirects are not followed. |
| \`retrying\`, \`no connection (…)\` or \`no response …\` | The receiver is not reachable, or needs longer than 10 seconds. |
| \`given_up\` | The webhook was disabled after three days of failures or by a 410, or a test, or what was sent again, failed. Repair the receiver, and enable the webhook. |

\`POST …/deliveries/{delivery_id}/send-again\` with \`{"after_attempt": N}\` sends one message again. A backend does the same by \`webhookDeliveries()\` and
\`sendWebhookAgain(delivery)\` of the SDK. [webhooks.md](/docs/webhooks.md) has the events, the order of messages and all rules.
`;
