import { expect, test } from 'vitest';
import * as z from 'zod';
import { ImportedConsent } from '../../schemas/events/consent-imported.js';
import { ConsentRecordV2 } from '../../schemas/events/consent-recorded.js';
import { BatchHeader, type RunPlace } from '../../schemas/evidence/batch-header.js';
import { Entry } from '../../schemas/evidence/entry.js';
import { SCHEMES, type Schemes } from '../../verifier-cli/src/versions/schemes.js';
import { choose, type Draft, draftOf, packed } from './dishonest-operator/export.js';
import { lineOf } from './dishonest-operator/forgery.js';
import { bigEndian, type LedgerLies, makeLedger } from './dishonest-operator/ledger.js';
import { base64url, concat, hex, sha256, utf8 } from './dishonest-operator/primitives.js';
import { TimeAuthority } from './dishonest-operator/time-authority.js';
import { notPassed, verify } from './dishonest-operator/verification.js';
import { batchOf, eventOf, makePlan, WORLDS } from './dishonest-operator/world.js';

/*
 * A ledger of a later version of the format, and a verifier with schemes for it. Every hash that a
 * version selects has another input than in version 1.0. This shows that a new version needs new rows of
 * the table, and no other change.
 */

const authority = new TimeAuthority();
const OF_VERSION_2 = ['alice 2', 'of carol 1', 'configuration 2', 'published 2'];
const OF_HASHES_3 = ['bob 1', 'alice 3'];

const hashed = (prefix: number, content: Uint8Array): Uint8Array => sha256(concat(Uint8Array.of(prefix), content));
const PREFIXES = { entry: 0x21, header: 0x22, run: 0x23, tag: 0x24 } as const;
const digest3 = (disclosure: string): string => base64url(sha256(`version 3 ${disclosure}`));

const NEWER: Schemes = {
  entries: new Map([
    ...SCHEMES.entries,
    [
      2,
      {
        shape: z.strictObject({ ...Entry.shape, v: z.literal(2) }),
        leaf: (text: string) => hex(hashed(PREFIXES.entry, utf8(text))),
      },
    ],
  ]),
  headers: new Map([
    ...SCHEMES.headers,
    [
      2,
      {
        shape: z.strictObject({ ...BatchHeader.shape, v: z.literal(2) }),
        leaf: (text: string) => hashed(PREFIXES.header, utf8(text)),
        runLeaf: (key: Uint8Array, run: RunPlace) =>
          hashed(PREFIXES.run, concat(key, ...[run.start, run.first, run.last].map(bigEndian))),
        tagLeaf: (tag: Uint8Array) => hashed(PREFIXES.tag, tag),
      },
    ],
  ]),
  records: new Map([
    ...SCHEMES.records,
    [
      3,
      {
        shapes: {
          'ConsentRecorded.v1': z.strictObject({
            ...ConsentRecordV2.shape,
            v: z.literal([1, 2]),
            services: ConsentRecordV2.shape.services.exactOptional(),
            hash_version: z.literal(3),
          }),
          'ConsentImported.v1': ImportedConsent,
        },
        disclosureDigest: digest3,
      },
    ],
  ]),
};

/** Makes a package whose newer parts are hashed by the schemes above. */
function makePackage(bend: (draft: Draft) => void = () => undefined) {
  const plan = makePlan(WORLDS.small);
  for (const label of OF_HASHES_3) {
    const event = eventOf(plan, label);
    event.record.hash_version = 3;
    event.record.disclosures = Object.fromEntries(event.values.map(({ name, text }) => [name, digest3(text)]));
  }
  const newerBatches = ['alice 2', 'bob 2', 'alice 4'].map((label) => batchOf(plan, label));
  const lies: LedgerLies = {
    entry: (entry, { label }) => {
      if (OF_VERSION_2.includes(label)) entry.v = 2;
    },
    header: (header, number) => {
      if (newerBatches.includes(number)) header.v = 2;
    },
    hash: (kind, content, number) => {
      const isNewer =
        kind === 'entry' ? new TextDecoder().decode(content).endsWith('"v":2}') : newerBatches.includes(number);
      return isNewer ? hashed(PREFIXES[kind], content) : null;
    },
  };
  const ledger = makeLedger(plan, authority, lies);
  const draft = draftOf(ledger, {}, choose(ledger, {}));
  bend(draft);
  return { zip: packed(draft), plan };
}

/** Verifies a package, and says what did not pass. */
async function check(schemes: Schemes | undefined, bend?: (draft: Draft) => void) {
  const { zip, plan } = makePackage(bend);
  const report = await verify(zip, plan, authority, schemes === undefined ? {} : { schemes });
  return { verdict: report.verdict, report, problems: notPassed(report) };
}

test('a verifier with the schemes of newer versions judges a package by them', async () => {
  const { verdict, problems, report } = await check(NEWER);
  expect(problems).toEqual({});
  expect(verdict).toBe('valid');
  expect(report.records).toMatchObject({ verdicts: { indeterminate: 0, invalid: 0 }, erased: 1 });
});

test('a verifier without them leaves the package open, and calls nothing forged', async () => {
  const { verdict, problems } = await check(undefined);
  expect(verdict).toBe('indeterminate');
  expect(problems).toMatchObject({
    'entry.format': 'indeterminate',
    'batch.header': 'indeterminate',
    'record.format': 'indeterminate',
  });
  expect(Object.values(problems)).not.toContain('fail');
});

test.each<[string, string, (draft: Draft) => void]>([
  [
    'a changed entry of version 2',
    'entry.inclusion',
    (draft) => {
      const line = lineOf(draft, 'alice 2');
      line.entry = line.entry.replace('"decision":"partial"', '"decision":"rejected"');
    },
  ],
  [
    'an entry of version 2 with a further member',
    'entry.format',
    (draft) => {
      const line = lineOf(draft, 'alice 2');
      line.entry = line.entry.replace('{"event_id"', '{"colour":"green","event_id"');
    },
  ],
  [
    'a changed header of version 2',
    'batch.inclusion',
    (draft) => {
      for (const line of draft.batches.filter(({ header }) => header.endsWith('"v":2}')))
        line.header = line.header.replace('.000Z', '.001Z');
    },
  ],
  [
    'a value that a record with hashes of version 3 does not have',
    'disclosure.digest',
    (draft) => {
      const line = lineOf(draft, 'alice 3');
      line.disclosures = lineOf(draft, 'alice 1').disclosures;
    },
  ],
])('a verifier with the schemes refuses %s', async (_, id, bend) => {
  const { verdict, problems } = await check(NEWER, bend);
  expect(verdict).toBe('invalid');
  expect(problems).toMatchObject({ [id]: 'fail' });
});

test('no version is known that the table does not have', async () => {
  const only2: Schemes = { ...NEWER, entries: new Map([...NEWER.entries].filter(([version]) => version === 2)) };
  const { problems } = await check(only2);
  expect(problems).toMatchObject({ 'entry.format': 'fail' });
});
