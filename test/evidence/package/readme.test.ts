import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packageReadme, type ReadmeOptions } from '../../../src/evidence/package/readme.js';
import { releasedVerifier, verifierFile } from '../../../src/evidence/package/readme-facts.js';

const VERIFIER = {
  name: '@consent-ledger/verify',
  version: '1.2.3',
  pageSha256: 'ab'.repeat(32),
  publicUrl: null,
};

const options: ReadmeOptions = {
  manifest: {
    format: 'consent-ledger-evidence',
    version: '1.0',
    origin: 'ledger.example/consents',
    checkpoint: 3,
    exported_at: '2026-01-31T00:00:00.000Z',
    exported_by: 'an account',
    development: false,
    filter: {
      site_id: '00000000-0000-4000-8000-000000000000',
      from: null,
      to: null,
      consent_type: null,
      document_version_id: null,
      event_ids: null,
      person: null,
      disclose: 'none',
    },
    salt: null,
    counts: { entries: 2, consents: 1, erased: 0, key_lost: 0, attachments: 0, not_yet_stamped: 0 },
    complete: [],
  },
  checkpoint: { size: 3, stamps: [{ genTime: new Date(0), authority: 'tsa.example' }] },
  example: null,
  site: { domain: 'shop.example', controller: 'Shop A.Ş.', contact: 'kvkk@shop.example' },
  verifier: VERIFIER,
};

test('the first lines say what is missing, and whom to ask', () => {
  const lines = packageReadme(options).split('\n').slice(2, 6);
  expect(lines).toEqual([
    'This file alone proves nothing. To check it, you also need:',
    '- the public key of the ledger: ask the operator of the ledger “ledger.example/consents”;',
    '- the root certificate of the time stamp authority (tsa.example): ask that authority.',
    'Türkçe açıklama bu dosyanın sonundadır.',
  ]);
});

test.each([
  ['with a time stamp', {}],
  ['without one', { checkpoint: null }],
  ['of a development authority', { manifest: { ...options.manifest, development: true } }],
] satisfies [string, Partial<ReadmeOptions>][])(
  'a package %s: half a page is for a lawyer, and the rest for an engineer',
  (_, part) => {
    const text = packageReadme({ ...options, ...part });
    const [lawyer = '', engineer = ''] = text.split('\nFOR THE ENGINEER: CONTENTS\n');
    expect(lawyer.split('\n').length).toBeLessThanOrEqual(50);
    expect(lawyer).not.toMatch(/merkle|checkpoint|revision|sha-256|stream|ndjson|created_at|command/i);
    for (const title of ['WHAT IT HOLDS', 'HOW TO CHECK IT', 'WHAT IT DOES NOT PROVE'])
      expect(lawyer).toContain(`\n${title}\n`);
    expect(lawyer).toContain('1 consent: what was decided');
    expect(engineer).toContain('consent-verify check PACKAGE.zip');
    expect(
      Math.max(
        ...text
          .split('\n')
          .filter((line) => !line.startsWith('  '))
          .map(({ length }) => length),
      ),
    ).toBeLessThan(160);
  },
);

test('both languages name the site, its controller, the ledger and the verifier with its digest', () => {
  const url = 'https://consent.example';
  const text = packageReadme({ ...options, verifier: { ...VERIFIER, publicUrl: url } });
  const [english = '', turkish = ''] = text.split('\nTÜRKÇE\n');
  for (const part of [english, turkish])
    for (const fact of [
      'shop.example',
      'Shop A.Ş.',
      'kvkk@shop.example',
      options.manifest.origin,
      `${url}/verify`,
      'ab'.repeat(32),
    ])
      expect(part).toContain(fact);
  expect(english).toContain(`${url}/verify/consent-verify.html`);
  expect(english).toContain(`${url}/checkpoints/ledger.vkey`);
});

test('what the service does not know is not stated', () => {
  const text = packageReadme({ ...options, site: null, verifier: null, checkpoint: null });
  expect(text).not.toMatch(/null|undefined|Controller|Veri sorumlusu:/);
  expect(text).toContain('The operator of the ledger serves it at /verify');
});

test('control characters of a controller do not change the layout', () => {
  const text = packageReadme({ ...options, site: { domain: 'a', controller: 'b\n\u001b[2J', contact: 'c' } });
  expect(text).toContain('Controller:     b??[2J\n');
});

test('the digest is that of the page that the service serves for download', async () => {
  const digest = createHash('sha256')
    .update(readFileSync(verifierFile('consent-verify.html')))
    .digest('hex');
  expect(await releasedVerifier('https://consent.example', '1.2.3')).toEqual({
    name: '@consent-ledger/verify',
    version: '1.2.3',
    pageSha256: digest,
    publicUrl: 'https://consent.example',
  });
});
