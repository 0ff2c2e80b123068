import { HELPERS, PUBLISHING } from '../../openapi/panel-documentation/walk.js';

/** SKILL.md, which the service publishes; a test follows it. */
export const SET_A_SITE_UP = `---
name: set-a-site-up
description: Sets a site up in Consent Ledger, from its domain to a published banner and API keys, and says what to ask a person for (site, keys, users, words). Use before a banner, a webhook or a backend is connected, or when a key, a user or a configuration is missing.
license: Apache-2.0
compatibility: Needs the URL of a Consent Ledger service. The commands need curl, Node 20 and a user of the panel with the role owner or admin; the dashboard needs none of these.
metadata:
  title: Set a site up
---

# Set a site up

A visitor can be asked on a page once the site has a verified domain, a cookie policy in force, a published configuration and an API key.

## What to ask a person for

Everything that only a person can give stands here; the other skills refer to it. Take what you have, and ask for the rest at once.

| Ask for | Who has it | Name in the skills |
|---|---|---|
| the service | nobody: it is the origin of this file, such as \`https://consent.example.org\` | \`CONSENT_LEDGER_URL\` |
| the site: its domain, and its id if it exists | an owner or admin, in the dashboard under *Sites* | \`SITE\` |
| a TXT record in the DNS of the domain, which proves whose it is | whoever manages the DNS | |
| an API key for pages: scope \`write\`, restriction \`publishable\` | an owner or admin, under *API & Integrations*. It stands in pages, and is no secret | \`CONSENT_LEDGER_PAGE_KEY\` |
| an API key for a backend: scope \`write\`, restriction \`secret\` | the same. It is shown once | \`CONSENT_LEDGER_KEY\` |
| a user with the role \`api_user\`, for a backend | an owner invites it, under *Team* | \`CONSENT_LEDGER_USER\`, \`CONSENT_LEDGER_PASSWORD\` |
| the secret of a webhook, \`whsec_…\` | an owner or admin, who adds the webhook. It is shown once | \`WEBHOOK_SECRET\` |
| an access token of an owner or admin, to use the commands below | the person signs in, and gives you the token, which is valid for 15 minutes, and not the password | \`TOKEN\` |
| the words: legal name and contact of the controller, the text of the cookie policy, the languages | who is responsible for the site | |
| what the site does: categories, their purposes and recipients, cookies and how long they last | who is responsible for the site; a scan finds cookies | |

Never invent words or purposes: visitors agree to them, and the record proves which they were. Keep keys, passwords and tokens out of argument lists, logs and
repositories. The key for pages is the exception.

## In the dashboard

\`/panel\`, signed in as owner or admin. *Sites*, *Add a site*; then the steps of the site's checklist: prove the domain by a TXT record, add and publish a
document \`cookie-policy\`, fill in *Banner* and publish it, create a key under *API & Integrations*. The page of keys shows the code to copy.

## By the API

The commands are for one shell. The panel API is described by \`/openapi.yaml\` and [panel-api.md](/docs/panel-api.md).

~~~sh
BASE=$CONSENT_LEDGER_URL
${HELPERS}SITE=$(panel POST /sites '{"name":"Shop","domain":"shop.example"}' | member data.id)
panel GET "/sites/$SITE/domain-verification" | member data.dns_record
~~~

Ask whoever manages the DNS of the domain to add the TXT record that this prints. A site without its own domain, such as a try on \`localhost\`, can be
verified only by the operator: \`consent-ledger admin site verify\`. For such a site, leave out the first of these lines:

~~~sh
panel POST "/sites/$SITE/domain-verification" | member data.verified_at
PAGE_KEY=$(panel POST "/sites/$SITE/api-keys" '{"name":"pages","scope":"write","restriction":"publishable"}' | member data.key)
~~~

Publish the words. Replace every text of this example by those of the person. \`revision\` counts the changes of the draft, so that two people do not
overwrite each other; each answer states the next.

~~~sh
${PUBLISHING.trimEnd()}
echo "$PAGE_KEY"
~~~

The key for pages works on the domain of the site and its subdomains, over https. If it must work elsewhere too, as on your own machine, list every origin,
that of the site as well:

~~~sh
panel PATCH "/sites/$SITE" '{"allowed_origins":["https://shop.example","http://localhost:3000"]}' | member data.allowed_origins
~~~

## When it is refused

| Answer | What to do |
|---|---|
| 401 \`INVALID_BEARER_TOKEN\` | The token is older than 15 minutes: ask for a new one. |
| 403 \`INSUFFICIENT_ROLE\` | The user is neither owner nor admin: ask one of them. |
| 409 \`DOMAIN_NOT_VERIFIED\` | The TXT record is not there yet. DNS can take minutes to hours: ask again later. |
| 409 \`WRONG_STATE\` | Somebody changed the draft: read it again, and use its \`revision\`. \`problems\` of the draft say what is missing before it can be published. |
| 422 \`VALIDATION_ERROR\` | \`errors\` names each field. |

## Next

[Put the banner on a page](../put-the-banner-on-a-page/SKILL.md), [receive webhooks](../receive-webhooks/SKILL.md),
[record a consent from a backend](../record-a-consent/SKILL.md).
`;
