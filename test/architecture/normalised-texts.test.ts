import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { ApprovalTokenRequest } from '../../schemas/api/approval-tokens.js';
import { BrowserConsentRequest, S2sConsentRequest } from '../../schemas/api/consents.js';
import { PersonReference } from '../../schemas/api/erasures.js';
import { ExportQuery } from '../../schemas/api/export.js';
import { EvidenceFilter } from '../../schemas/api/panel/exports.js';
import { StatusQuery } from '../../schemas/api/status.js';
import { normalVisitor } from '../../schemas/evidence/disclosed-values.js';
import { ROOT } from './import-graph.js';

/*
 * Normalising a text takes the square of its combining marks: 600,000 of them take more than a minute. So each
 * text that is normalised has a largest length, which is checked before.
 */

/** Bounds of the texts, and how a test sees them. */
const BY_REQUEST = 'the schemas of requests, below';
const BY_RECORD = 'the schema of a disclosed visitor_id, below';
const ITS_OWN = 'a length that the function checks before';
const ONE_LETTER = 'one letter and one mark';

/** Every call, by file: how many there are, and what bounds their texts. */
const CALLS: Readonly<Record<string, readonly [count: number, bound: string]>> = {
  'schemas/evidence/disclosed-values.ts': [1, BY_RECORD],
  'schemas/rfc3161/x509/names.ts': [1, ITS_OWN],
  'src/api/panel/disclosure-reason.ts': [1, BY_REQUEST],
  'src/erasure/near-matches.ts': [5, `${BY_REQUEST}; ${ONE_LETTER}`],
  'src/platform/keys/blind-index.ts': [5, BY_REQUEST],
  'verifier-cli/by-hand/verify.py': [2, `${ITS_OWN}; ${BY_RECORD}`],
  'verifier-cli/src/list/select-consents.ts': [1, ITS_OWN],
};

/** Functions of the service whose text comes from a request: every caller is listed with the schema that bounds it. */
const CALLERS: Readonly<Record<string, readonly string[]>> = {
  blindIndex: [
    'src/api/panel/consents.ts', // PersonReference
    'src/api/tool/export-test-records.ts', // ExportQuery
    'src/api/tool/consent-status.ts', // StatusQuery
    'src/erasure/near-matches.ts', // PersonReference, or an argument of a command
    'src/erasure/requests.ts', // PersonReference, or an argument of a command
    'src/evidence/package/export-evidence.ts', // EvidenceFilter
    'src/evidence/records/selection.ts', // ExportQuery
    'src/pipeline/admission/approval-tokens.ts', // ApprovalTokenRequest
    'src/pipeline/admission/prepare-consent.ts', // BrowserConsentRequest and S2sConsentRequest, also for a row of an import
  ],
};

const FOLDERS = ['dashboard/src', 'projections', 'schemas', 'sdk', 'src', 'verifier-cli/by-hand', 'verifier-cli/src'];

function filesOf(folder: string): readonly string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return entries
    .filter((name) => /\.(?:tsx?|py)$/.test(name) && !/(?:^|\/)(?:node_modules|dist)\//.test(name))
    .map((name) => `${folder}/${name}`);
}

const files = FOLDERS.flatMap(filesOf).map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }));

test('every call that normalises a text is listed with what bounds the text', () => {
  const found = files.flatMap(({ name, text }) => {
    const count = [...text.matchAll(/\.normalize\(/g)].length;
    return count === 0 ? [] : [[name, count] as const];
  });
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(CALLS).map(([name, [count]]) => [name, count])),
  );
});

test.each(Object.entries(CALLERS))('every caller of %s is listed with what bounds the text', (name, callers) => {
  const call = new RegExp(`(?<!function )\\b${name}\\(`);
  expect(
    files
      .filter(({ text }) => call.test(text))
      .map((file) => file.name)
      .toSorted(),
  ).toEqual([...callers].toSorted());
});

const MARKS = '\u0315\u0300'.repeat(500);
const UUID = '00000000-0000-4000-8000-000000000000';
const IDENTIFIERS = ['visitor_id', 'signer_email', 'signer_phone', 'signer_id_number'];
const CONSENT = { consent_type: 'cookie', decision: 'accepted', document_version_id: UUID };

test.each<[string, z.ZodType, Record<string, unknown>, readonly string[]]>([
  ['a consent', BrowserConsentRequest, CONSENT, IDENTIFIERS],
  ['a consent of a backend', S2sConsentRequest, CONSENT, IDENTIFIERS],
  [
    'an approval token',
    ApprovalTokenRequest,
    { document_version_id: UUID, subject: 'v' },
    ['subject', 'signer_email', 'signer_phone', 'signer_id_number'],
  ],
  ['a status', StatusQuery, { visitor_id: 'v' }, ['visitor_id']],
  ['an export of records', ExportQuery, {}, ['visitor_id']],
  ['an export of evidence', EvidenceFilter, {}, ['visitor_id']],
  ['a search or an erasure', PersonReference, { by: 'visitor_id', value: 'v' }, ['value']],
])('the request for %s takes no text of 1,000 marks', (_, schema, request, members) => {
  expect(schema.safeParse(request).error).toBeUndefined();
  for (const member of members) {
    expect(schema.safeParse({ ...request, [member]: 'v' }).error, member).toBeUndefined();
    expect(schema.safeParse({ ...request, [member]: MARKS }).success, member).toBe(false);
  }
});

test('a record has no visitor_id of 1,000 marks', () => {
  expect(normalVisitor('\u0041\u030a')).toBe('\u00c5');
  expect(normalVisitor(MARKS)).toBeNull();
  expect(normalVisitor('')).toBeNull();
});
