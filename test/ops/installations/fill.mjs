// Fills an installation over HTTP, as README.md beside this file says. It uses the SDK of the version that runs.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [version, baseUrl, seedFile] = process.argv.slice(2);
const { ConsentLedger } = await import(pathToFileURL(`${version}/sdk/node/dist/index.js`).href);
const { keys, api_user: user, documents } = JSON.parse(readFileSync(seedFile, 'utf8'));
const ledger = new ConsentLedger({ baseUrl, apiKey: keys.write, user });
const policy = documents.find(({ kind }) => kind === 'cookie_policy');
const form = documents.find((document) => document.requires_approval_token);
const idOf = ({ versions }, language) => versions.find((one) => one.state === 'active' && one.language === language).id;

const DECISIONS = ['accepted', 'rejected', 'partial', 'withdrawn'];
for (let round = 0; round < 4; round += 1) {
  const consents = Array.from({ length: 30 }, (_, n) => ({
    consent_type: 'cookie',
    decision: DECISIONS[n % DECISIONS.length],
    document_version_id: idOf(policy, n % 2 === 0 ? 'en' : 'tr'),
    visitor_id: `visitor-${n % 10}`,
    metadata: { page: `/articles/${n}` },
  }));
  const { rejected } = await ledger.recordBatch(consents);
  if (rejected > 0) throw new Error(`${rejected} consents were rejected`);
  await sleep(1_500);
}
for (let n = 0; n < 3; n += 1) {
  const signer = { subject: `signer-${n}`, signer_name: 'Ayşe Demo', signer_email: `signer-${n}@example.org` };
  const { approval_token } = await ledger.mintApprovalToken({ document_slug: form.slug, ...signer });
  // The last token waits to be used.
  const consent = { consent_type: 'document_approval', decision: 'accepted', document_version_id: idOf(form, 'en') };
  if (n < 2) await ledger.record({ ...consent, approval_token });
}
for (const visitor_id of ['visitor-3', 'visitor-7'])
  await ledger.erase({ subject: { by: 'visitor_id', value: visitor_id } });
// An announced erasure cancels the exports that wait.
await sleep(5_000);
for (const filter of [{}, { visitor_id: 'visitor-1' }]) await ledger.startEvidenceExport({ filter });
