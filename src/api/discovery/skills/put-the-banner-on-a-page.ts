/** SKILL.md, which the service publishes; a test follows it. */
export const PUT_THE_BANNER_ON_A_PAGE = `---
name: put-the-banner-on-a-page
description: Puts the consent banner of Consent Ledger on a web page (plain HTML, React, Next.js or a tag manager), lets scripts wait for consent, and checks the result. Use to add or repair a cookie banner on a site whose consents Consent Ledger records.
license: Apache-2.0
compatibility: Needs the URL of a Consent Ledger service and an API key for pages of a site that is set up. React and Next.js need the package @consent-ledger/react.
metadata:
  title: Put the banner on a page
---

# Put the banner on a page

The SDK of the service asks the visitor, records the choice, and runs the scripts that the visitor permitted. You need \`CONSENT_LEDGER_PAGE_KEY\`:
[Set a site up](../set-a-site-up/SKILL.md#what-to-ask-a-person-for) says whom to ask for it, and for what else.

First see whether the site is ready. The answer has the texts of the banner, and the keys of its categories:

~~~sh
curl -sS -H "X-API-Key: $CONSENT_LEDGER_PAGE_KEY" -H 'Origin: https://shop.example' "$CONSENT_LEDGER_URL/tool/v1/config"
~~~

Write the origin of the site in place of \`https://shop.example\`, and use the URL of the service and the key in place of \`CONSENT_LEDGER_URL\` and
\`CONSENT_LEDGER_PAGE_KEY\` below.

## A plain page

In the \`head\`, before every script that sets cookies:

~~~html
<script src="CONSENT_LEDGER_URL/sdk/consent.js" data-api-key="CONSENT_LEDGER_PAGE_KEY"></script>
~~~

A script that needs consent waits as \`text/plain\` with the key of its category. So do frames and pictures, by \`data-consent-src\`:

~~~html
<script type="text/plain" data-consent="analytics" src="/analytics.js"></script>
<iframe data-consent="marketing" data-consent-src="https://video.example/embed/1" title="Video"></iframe>
~~~

Somewhere on every page, for example in the footer, visitors change their choice:

~~~html
<button type="button" data-consent-settings>Cookie settings</button>
~~~

Find every tag that sets cookies or sends data, and ask the person which category each belongs to. A tag that does not wait is not stopped by the banner.
\`data-language\` and the other attributes are in [sdk.md](/docs/sdk.md#a-page); [ten-minutes.md](/docs/ten-minutes.md) has recipes for a single-page app,
Vue, Nuxt, Svelte, Astro, YouTube, GA4, the Meta pixel and Matomo.

## React

The package contains the SDK: do not load the script as well. Until it is in the npm registry, ask the person for the file
\`consent-ledger-react-….tgz\`, which \`npm pack -w sdk/react\` makes in the repository of the service.

~~~jsx
import { Banner, ConsentProvider, Gate, SettingsButton } from '@consent-ledger/react';
import { createRoot } from 'react-dom/client';

createRoot(document.getElementById('root')).render(
  <ConsentProvider baseUrl="CONSENT_LEDGER_URL" apiKey="CONSENT_LEDGER_PAGE_KEY">
    <Banner />
    <Gate category="analytics" fallback={null}>
      <Analytics />
    </Gate>
    <SettingsButton>Cookie settings</SettingsButton>
  </ConsentProvider>,
);
~~~

One provider stands around the whole page. [sdk-react.md](/docs/sdk-react.md) has \`useConsent()\` for a banner of your own, and Vue and Svelte.

## Next.js

The same, in \`app/layout.jsx\`: the provider goes within \`body\`, around \`{children}\`, and its components run on the server, too.
A [layout](/docs/examples/react-next/app/layout.jsx), a [page](/docs/examples/react-next/app/page.jsx) and a
[part](/docs/examples/react-next/app/withdrawal.jsx) of it work as they are, with the URL in \`NEXT_PUBLIC_CONSENT_SERVICE\` and the key in
\`NEXT_PUBLIC_CONSENT_KEY\`. A component with \`useConsent()\` begins with \`'use client'\`.

## A tag manager

Best is the line of a plain page in the \`head\`, above the snippet of the tag manager, with \`data-google-consent-mode\` for Google's tags: they then know the
choice from the start, and the event \`consent-ledger-choice\` in the data layer starts tags that wait for it.

Where only the tag manager can be changed, use a tag of custom HTML that fires first (in Google Tag Manager: *Consent Initialization - All Pages*). A tag
manager drops attributes of a script such as \`data-api-key\`, so the tag makes the element itself:

~~~html
<script>
  var consent = document.createElement('script');
  consent.src = 'CONSENT_LEDGER_URL/sdk/consent.js';
  consent.setAttribute('data-api-key', 'CONSENT_LEDGER_PAGE_KEY');
  consent.setAttribute('data-google-consent-mode', '');
  document.head.appendChild(consent);
</script>
~~~

Every other tag then needs a condition on the consent of its category. Tags that fire before it are not stopped.

## Check it

Open the page in a new private window:

1. The banner is shown, and \`document.cookie\` has nothing that the page should not set yet.
2. *Reject*, reload: no banner, and no script of an optional category has run.
3. *Cookie settings*, accept: the scripts run.
4. With a live key, the dashboard shows both choices under *Consents* a moment later.

With a live key, a test makes records of real evidence. Ask for a [test key](/docs/sdk.md#a-page-with-a-test-key), and try it on a host of your own machine, or
tell the person that you make such records.

| What you see | What to do |
|---|---|
| nothing, and 403 \`ORIGIN_NOT_ALLOWED\` in the network | The page is not on the domain of the site over https: an owner or admin [lists its origin](../set-a-site-up/SKILL.md#by-the-api). |
| 403 \`SITE_NOT_VERIFIED\`, 409 \`CONFIG_OUTDATED\` | The site is not set up: [Set a site up](../set-a-site-up/SKILL.md). |
| 401 \`INVALID_API_KEY\` | The key is not whole, or was revoked. |
| refused by the content security policy | Add the origin of the service to \`script-src\` and \`connect-src\`. |
| a gated script does not run after *Accept* | \`data-consent\` names no category of the site, or its type is not \`text/plain\`. |
`;
