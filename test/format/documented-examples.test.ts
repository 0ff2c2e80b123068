import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { ConsentRecordV2 } from '../../schemas/events/consent-recorded.js';
import { LedgerPolicySetRecord } from '../../schemas/events/ledger-policy.js';
import {
  BatchHeader,
  batchHeaderText,
  batchLeaf,
  POLICY_KEY,
  streamsRoot,
  tiledRuns,
} from '../../schemas/evidence/batch-header.js';
import { checkpointText, parseCheckpoint } from '../../schemas/evidence/checkpoint.js';
import { Contradiction } from '../../schemas/evidence/contradiction.js';
import { Entry, entryLeaf, entryLeafHex, entryText } from '../../schemas/evidence/entry.js';
import { Manifest } from '../../schemas/evidence/manifest.js';
import { BatchLine, EntryLine } from '../../schemas/evidence/package-lines.js';
import { parsePromiseText, promiseLeaf, promiseText } from '../../schemas/evidence/promise.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { emptyRoot } from '../../schemas/merkle/hashing.js';
import { treeRoot } from '../../schemas/merkle/tree.js';

const SITE = '0190b3a4-5c00-7000-8000-000000000001';
const CONSENT = '0190b3a4-5c00-7000-8000-000000000002';
const POLICY = '0190b3a4-5c00-7000-8000-000000000003';
const ORIGIN = 'ledger.example/1';

const record = ConsentRecordV2.parse({
  v: 2,
  hash_version: 2,
  proof_key_id: 'proof-1',
  event_id: CONSENT,
  site_id: SITE,
  consent_type: 'newsletter',
  decision: 'accepted',
  categories: null,
  services: null,
  ask_again_at: null,
  scope: 'device',
  rule_id: null,
  language: 'en',
  document_version_id: '0190b3a4-5c00-7000-8000-000000000004',
  document_hash: toHex(sha256(utf8('I want the newsletter.'))),
  site_config_hash: toHex(sha256(utf8('{}'))),
  compliance_framework: 'gdpr',
  created_at: '2026-01-01T00:00:00.000Z',
  valid_until: null,
  channel: 's2s',
  api_key_id: '0190b3a4-5c00-7000-8000-000000000005',
  identity_assurance: null,
  approval_token_id: null,
  vouched: [],
  disclosures: {},
});
const recordText = canonicalJson(record);

const policy = LedgerPolicySetRecord.parse({
  v: 1,
  event_id: POLICY,
  created_at: '2026-01-01T00:00:00.000Z',
  number: 1,
  seal_within_seconds: 600,
  stamp_within_seconds: 3600,
  stamps: 1,
  witnesses: [],
  witnesses_required: 0,
  tree_hash: 'sha256',
});
const entry = entryText({
  stream: 'policy',
  revision: 0,
  previous: null,
  eventId: POLICY,
  type: 'LedgerPolicySet.v1',
  recordText: canonicalJson(policy),
  proofHash: null,
  personTag: null,
});
const runs = tiledRuns([{ stream: 'policy', first: 0, last: 0 }], () => POLICY_KEY);
const header = batchHeaderText(
  BatchHeader.parse({
    v: 1,
    number: 0,
    level: 0,
    count: 1,
    root: toHex(treeRoot([entryLeaf(entry)])),
    streams_count: 1,
    streams_root: toHex(streamsRoot(runs)),
    tags_count: 0,
    tags_root: toHex(emptyRoot()),
    policies: 1,
    sealed_at: '2026-01-01T00:00:01.000Z',
    after: null,
  }),
);
const checkpoint = checkpointText({ origin: ORIGIN, size: 1, root: treeRoot([batchLeaf(header)]) });
const promise = promiseText({
  origin: ORIGIN,
  stream: `consents-${SITE}`,
  eventId: CONSENT,
  recordDigest: sha256(utf8(recordText)),
  createdAt: record.created_at,
  sealedBefore: '2026-01-01T00:10:00.000Z',
});
const entryLine = canonicalJson({ batch: 0, disclosures: [], entry, index: 0 });
const manifest = canonicalJson(
  Manifest.parse({
    format: 'consent-ledger-evidence',
    version: '1.0',
    origin: ORIGIN,
    checkpoint: 1,
    exported_at: '2026-01-01T01:00:00.000Z',
    exported_by: 'admin@shop.example',
    development: false,
    filter: {
      site_id: SITE,
      from: null,
      to: null,
      consent_type: null,
      document_version_id: null,
      event_ids: null,
      person: null,
      disclose: 'none',
    },
    salt: '11'.repeat(32),
    counts: { entries: 1, consents: 0, erased: 0, key_lost: 0, attachments: 0, not_yet_stamped: 0 },
    complete: [{ stream: 'policy', first: 0, last: 0 }],
    files: { 'entries.ndjson': toHex(sha256(utf8(`${entryLine}\n`))) },
  }),
);
const batchLine = canonicalJson({
  hashes: [],
  header: '…',
  path: [],
  streams: [{ index: 0, key: POLICY_KEY, start: 0, first: 0, last: 0 }],
});
const contradiction = {
  format: 'consent-ledger-contradiction',
  version: 1,
  announcements: [],
  kind: 'checkpoints',
  first: `${checkpoint}…`,
  second: `${checkpointText({ origin: ORIGIN, size: 1, root: emptyRoot() })}…`,
};

/** The comment with which a file opens, without white space. */
function openingOf(file: string): string {
  const [, comment = ''] = /^\/\*\n(.*?)\*\//s.exec(readFileSync(`schemas/${file}.ts`, 'utf8')) ?? [];
  return withoutSpace(comment.replaceAll(/^ \*/gm, ''));
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}

test.each([
  ['events/consent-recorded', [recordText, toHex(sha256(utf8(recordText)))]],
  ['evidence/entry', [entry, entryLeafHex(entry)]],
  ['evidence/batch-header', [header, toHex(batchLeaf(header))]],
  ['evidence/checkpoint', [checkpoint]],
  ['evidence/manifest', [manifest]],
  ['evidence/package-lines', [entryLine.replace(canonicalJson(entry), '"…"'), batchLine]],
  ['evidence/promise', [promise, toHex(promiseLeaf(promise))]],
  ['evidence/contradiction', [canonicalJson(contradiction)]],
])('schemas/%s.ts opens with a correct example', (file, texts) => {
  for (const text of texts) expect(openingOf(file)).toContain(withoutSpace(text));
});

test('the examples are of the formats', () => {
  expect(parseCheckpoint(checkpoint)).not.toBeNull();
  expect(parsePromiseText(promise)).not.toBeNull();
  for (const [schema, text] of [
    [Entry, entry],
    [EntryLine, entryLine],
    [BatchLine, batchLine],
    [Contradiction, canonicalJson(contradiction)],
  ] as const)
    expect(schema.safeParse(JSON.parse(text)).success).toBe(true);
});
