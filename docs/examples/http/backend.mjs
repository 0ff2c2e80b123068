// A backend (Node 20.19 or later) with the package @consent-ledger/node (docs/sdk.md): mints an approval token, records a consent for a
// person, and exports what is recorded of that person.
//   BASE_URL=http://127.0.0.1:8080 API_KEY=svc_live_… API_USER=api@… API_PASSWORD=… node backend.mjs
import { randomUUID } from 'node:crypto';
import { ConsentLedger } from '@consent-ledger/node';

const { BASE_URL: baseUrl, API_KEY: apiKey, API_USER: email, API_PASSWORD: password } = process.env;
const ledger = new ConsentLedger({ baseUrl, apiKey, user: { email, password }, application: 'backend-example/1.0' });

const visitorId = `customer-${randomUUID()}`;
const document = await ledger.document('explicit-consent', 'en');

const minted = await ledger.mintApprovalToken({
  document_version_id: document.version.id,
  subject: visitorId,
  signer_name: 'Ada Example',
  otp_verified: true,
});

const consent = await ledger.record({
  consent_type: 'document_approval',
  decision: 'accepted',
  document_version_id: document.version.id,
  approval_token: minted.approval_token,
  // An id that outlives this process would protect a repetition by a later one.
  idempotency_key: randomUUID(),
});
console.log(`recorded ${consent.consent_token}`);

// The record is stored a moment after it was accepted.
let found = 0;
for (let i = 0; i < 60 && found === 0; i += 1) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  for await (const record of ledger.exportRecords({ visitor_id: visitorId })) {
    console.log(`exported ${record.consent_token} of ${record.signer_name}`);
    found += 1;
  }
}
await ledger.signOut();
