import { listSites, login } from './panel';
import { given, signingFetch } from './sign';
import { ping, recordConsent, recordConsentBatch } from './tool';

const { base, apiKey, version, approvalVersion, login: credentials } = given();
const signed = signingFetch(base, apiKey);
const plain = globalThis.fetch;
// The generated functions call the fetch of the environment.
globalThis.fetch = (input, init) => (input instanceof Request ? plain(input, init) : signed(input, init));

const good = { consent_type: 'cookie', decision: 'accepted' as const, document_version_id: version };
const pong = await ping();
const recorded = await recordConsent(good);
const wrong = { ...good, consent_type: 'document_approval', document_version_id: approvalVersion };
const batch = await recordConsentBatch({ consents: [good, wrong] });
const item = batch.status === 202 ? batch.data.data.results.find(({ status }) => status === 'rejected') : undefined;
const refused = await recordConsent({ ...good, visitor_id: 'x'.repeat(101) });
const signedIn = await login(credentials);
const unsigned = await listSites();
console.log(
  JSON.stringify({
    pong: pong.status === 200 ? pong.data.message : undefined,
    token: recorded.status === 202 ? recorded.data.data.consent_token : undefined,
    item: [item?.index, item?.error_code, item?.code],
    error: refused.status === 422 ? [refused.data.code, refused.data.errors?.[0]?.field] : undefined,
    signedIn:
      signedIn.status === 200 ? [signedIn.data.data.token_type, typeof signedIn.data.data.access_token] : undefined,
    panelError: unsigned.status === 401 ? unsigned.data.code : undefined,
  }),
);
