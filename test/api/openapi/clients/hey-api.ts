import { client as panel } from './panel/client.gen';
import { listSites, login } from './panel/sdk.gen';
import { given, signingFetch } from './sign';
import { client as tool } from './tool/client.gen';
import { ping, recordConsent, recordConsentBatch } from './tool/sdk.gen';

const { base, apiKey, version, approvalVersion, login: credentials } = given();
tool.setConfig({ baseUrl: base, fetch: signingFetch(base, apiKey) });
panel.setConfig({ baseUrl: base });

const good = { consent_type: 'cookie', decision: 'accepted' as const, document_version_id: version };
const pong = await ping();
const recorded = await recordConsent({ body: good });
const wrong = { ...good, consent_type: 'document_approval', document_version_id: approvalVersion };
const batch = await recordConsentBatch({ body: { consents: [good, wrong] } });
const item = batch.data?.data.results.find(({ status }) => status === 'rejected');
const refused = await recordConsent({ body: { ...good, visitor_id: 'x'.repeat(101) } });
const signedIn = await login({ body: credentials });
const unsigned = await listSites();
console.log(
  JSON.stringify({
    pong: pong.data?.message,
    token: recorded.data?.data.consent_token,
    item: [item?.index, item?.error_code, item?.code],
    error: [refused.error?.code, refused.error?.errors?.[0]?.field],
    signedIn: [signedIn.data?.data.token_type, typeof signedIn.data?.data.access_token],
    panelError: unsigned.error?.code,
  }),
);
