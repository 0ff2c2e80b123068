import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64url } from '../../../schemas/crypto/encoding.js';
import {
  COMPLIANCE_FRAMEWORKS,
  DECISIONS,
  VOUCHABLE_FIELDS,
  type WrittenConsentRecord,
} from '../../../schemas/events/consent-recorded.js';
import { disclosuresOf } from '../../../schemas/events/kept-disclosures.js';
import { consentRecordText } from '../../../schemas/evidence/consent-record-members.js';
import { DISCLOSURE_NAMES } from '../../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure, encodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { encodeDisclosures } from '../../../src/pipeline/admission/disclosures.js';
import { createRandomPool } from '../../../src/platform/keys/index.js';
import { digestsByName } from '../../support/disclosure-digests.js';
import { keptDisclosures } from '../../support/kept-disclosures.js';

const hex64 = fc.stringMatching(/^[0-9a-f]{64}$/);
const instant = fc
  .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((d) => d.toISOString());
const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((s) => s.isWellFormed());
const record: fc.Arbitrary<WrittenConsentRecord> = fc.record({
  v: fc.constant(2 as const),
  hash_version: fc.constant(2 as const),
  proof_key_id: text,
  event_id: fc.uuid(),
  site_id: fc.uuid(),
  consent_type: fc.stringMatching(/^[A-Za-z0-9_.-]{1,50}$/),
  decision: fc.constantFrom(...DECISIONS),
  categories: fc.option(fc.dictionary(text, fc.boolean(), { noNullPrototype: true })),
  language: text,
  services: fc.option(
    fc.dictionary(text, fc.dictionary(text, fc.boolean(), { noNullPrototype: true }), {
      noNullPrototype: true,
      maxKeys: 4,
    }),
  ),
  document_version_id: fc.uuid(),
  document_hash: hex64,
  site_config_hash: hex64,
  compliance_framework: fc.option(fc.constantFrom(...COMPLIANCE_FRAMEWORKS)),
  created_at: instant,
  valid_until: fc.option(instant),
  ask_again_at: fc.option(instant),
  scope: fc.constant('device'),
  rule_id: fc.option(fc.stringMatching(/^[a-z0-9_-]{1,50}$/)),
  channel: fc.constantFrom('browser' as const, 's2s' as const),
  api_key_id: fc.uuid(),
  identity_assurance: fc.option(fc.constant('tenant_attested' as const)),
  approval_token_id: fc.option(fc.stringMatching(/^atk_[A-Za-z0-9_-]{1,60}$/)),
  vouched: fc.subarray([...VOUCHABLE_FIELDS]),
  disclosures: fc.dictionary(fc.constantFrom(...DISCLOSURE_NAMES), fc.stringMatching(/^[A-Za-z0-9_-]{43}$/), {
    maxKeys: 6,
    noNullPrototype: true,
  }),
});

describe('texts written from closed lists of members', () => {
  it('equals the canonical JSON of the record', () => {
    fc.assert(fc.property(record, (made) => consentRecordText(made) === canonicalJson(made)));
  });

  it('encodes disclosures as the format does', () => {
    const value = fc.jsonValue({ stringUnit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...DISCLOSURE_NAMES), value), { maxLength: 5 }), (pairs) => {
        const fields = new Map(pairs.map(([name, json]) => [name, JSON.parse(JSON.stringify(json))]));
        const { kept, digests } = encodeDisclosures(fields, createRandomPool());
        const strings = fields.size === 0 ? [] : (disclosuresOf(kept, digests)?.map(({ text }) => text) ?? []);
        expect(strings.length).toBe(fields.size);
        expect(keptDisclosures(strings).toString()).toBe(kept);
        for (const string of strings) {
          const salt = fromBase64url(JSON.parse(Buffer.from(string, 'base64url').toString('utf8'))[0]);
          const decoded = JSON.parse(Buffer.from(string, 'base64url').toString('utf8'));
          expect(encodeDisclosure(salt ?? new Uint8Array(), decoded[1], fields.get(decoded[1]) ?? null)).toBe(string);
        }
        expect(digests).toEqual(digestsByName(strings));
      }),
    );
    const { kept, digests } = encodeDisclosures(new Map([['metadata', { b: [1] }]]), createRandomPool());
    expect(disclosuresOf(`${kept}\n${kept}`, digests)).toBeNull();
    expect(decodeDisclosure(disclosuresOf(kept, digests)?.[0]?.text ?? '')).toMatchObject({
      name: 'metadata',
      value: { b: [1] },
    });
  });
});
