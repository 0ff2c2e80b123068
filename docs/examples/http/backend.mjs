// A backend (Node 20 or later, no packages): signs in, mints an approval token, records a consent for a person, and exports what is
// recorded of that person.
//   BASE_URL=http://127.0.0.1:8080 API_KEY=svc_live_… API_USER=api@… API_PASSWORD=… node backend.mjs
import { createHash, createHmac, randomUUID } from 'node:crypto';

const { BASE_URL: baseUrl, API_KEY: apiKey, API_USER: email, API_PASSWORD: password } = process.env;

const signIn = await fetch(`${baseUrl}/api/v1/auth/login`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ email, password }),
});
if (!signIn.ok) throw new Error(`signing in was answered with ${signIn.status}`);
const { data: tokens } = await signIn.json();
const credentials = { 'x-api-key': apiKey, authorization: `Bearer ${tokens.access_token}` };

/** A signed POST. On 408, 425, 429 and 5xx it is sent again: same body, new timestamp, nonce and signature. */
async function post(path, content, attempt = 1) {
  const body = JSON.stringify(content);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const canonical = ['POST', path, timestamp, nonce, bodyHash].join('\n');
  const answer = await fetch(baseUrl + path, {
    method: 'POST',
    headers: {
      ...credentials,
      'content-type': 'application/json',
      'x-timestamp': timestamp,
      'x-nonce': nonce,
      'x-signature': createHmac('sha256', apiKey).update(canonical).digest('hex'),
    },
    body,
  });
  if (answer.ok) return (await answer.json()).data;
  const mayRetry = [408, 425, 429].includes(answer.status) || answer.status >= 500;
  if (!mayRetry || attempt === 5) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`);
  const seconds = Number(answer.headers.get('retry-after') ?? attempt);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return post(path, content, attempt + 1);
}

async function get(path) {
  const answer = await fetch(baseUrl + path, { headers: credentials });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`);
  return answer;
}

const visitorId = `customer-${randomUUID()}`;
const { data: document } = await (await get('/tool/v1/documents/explicit-consent/active?language=en')).json();

const minted = await post('/tool/v1/s2s/approval-tokens', {
  document_version_id: document.version.id,
  subject: visitorId,
  signer_name: 'Ada Example',
  otp_verified: true,
});

const consent = await post('/tool/v1/s2s/consents', {
  consent_type: 'document_approval',
  decision: 'accepted',
  document_version_id: document.version.id,
  approval_token: minted.approval_token,
  idempotency_key: randomUUID(),
});
console.log(`recorded ${consent.consent_token}`);

// The record is stored a moment after it was accepted.
let lines = [];
for (let i = 0; i < 60 && lines.length === 0; i += 1) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const query = new URLSearchParams({ visitor_id: visitorId, format: 'ndjson' });
  const text = await (await get(`/tool/v1/s2s/consents/export?${query}`)).text();
  lines = text.split('\n').filter((line) => line !== '');
}
for (const line of lines) {
  const record = JSON.parse(line);
  console.log(`exported ${record.consent_token} of ${record.signer_name}`);
}
