import type { Draft } from './export.js';
import { type Forgery, leaveOut, lineOf } from './forgery.js';
import type { Plan } from './ledger.js';
import { at, canonical, type JsonRecord, sha256Hex, utf8 } from './primitives.js';
import { batchOf, consentId, consentsOf, eventOf, SITE, TEXTS, versionId } from './world.js';

/*
 * A verifier never calls an unknown version forged. So an operator can call anything that would show
 * a lie an entry, header, record or package of a newer version. None of these packages may be VALID.
 */

const POINT = 'unknown versions';
const OPEN = 'indeterminate';
const WITHDRAWAL = 'alice 4';
const ERASURE = 'of carol 1';

const isObject = (json: unknown): json is JsonRecord => typeof json === 'object' && json !== null;

/** The canonical text of an object with other members. */
function changed(text: string, change: JsonRecord): string {
  const json: unknown = JSON.parse(text);
  if (!isObject(json)) throw new TypeError('not an object');
  return canonical({ ...json, ...change });
}

/** Shows the entry with this label as one of version 2. */
function shroud(draft: Draft, label: string, change: JsonRecord = {}): void {
  const line = lineOf(draft, label);
  line.entry = changed(line.entry, { v: 2, ...change });
}

/** Shows the header of a batch, or of the batch with an event, as one of version 2. */
function shroudBatch(draft: Draft, batch: number | string): void {
  const number = typeof batch === 'number' ? batch : batchOf(draft.ledger.plan, batch);
  const line = draft.batches.find(({ sealed }) => sealed.number === number);
  if (line === undefined) throw new RangeError(`the package does not include batch ${number}`);
  line.header = changed(line.header, { v: 2 });
}

/** Shows the values of the erased record as if it were not erased. */
function revive(draft: Draft, label: string): void {
  const line = lineOf(draft, label);
  line.erased = null;
  line.disclosures = line.leaf.event.values.map(({ text }) => text);
}

/** The last consent is to a version that was retired before it. */
function consentToRetired(plan: Plan): void {
  const { record } = eventOf(plan, WITHDRAWAL);
  Object.assign(record, { document_version_id: versionId(SITE, 1), document_hash: sha256Hex(TEXTS.first) });
}

/** Moves the notices of the second version into a batch of their own, after all consents. */
function moveNotices(plan: Plan): void {
  const { batches } = plan;
  const moved = ['retired 1', 'activated 2'].map((label) => eventOf(plan, label));
  const number = batchOf(plan, 'retired 1');
  batches.set(
    number,
    (batches.get(number) ?? []).filter((event) => !moved.includes(event)),
  );
  batches.set(14, moved);
}

const HIDDEN_ENTRIES: readonly Forgery[] = [
  {
    point: POINT,
    name: 'the withdrawal is shown as an entry of version 2',
    draft: (draft) => shroud(draft, WITHDRAWAL),
    check: 'completeness.runs',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the withdrawal is shown as an entry of version 2, with nothing but its place',
    draft: (draft) => {
      const line = lineOf(draft, WITHDRAWAL);
      line.entry = canonical({ v: 2, stream: line.leaf.stream, revision: line.leaf.revision });
    },
    check: 'entry.format',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the withdrawal is shown as an entry of version 2 without its place',
    draft: (draft) => {
      lineOf(draft, WITHDRAWAL).entry = canonical({ v: 2 });
    },
    check: 'completeness.runs',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the withdrawal is an entry of version 2 in a package for the person',
    request: { person: 'alice' },
    draft: (draft) => shroud(draft, WITHDRAWAL),
    check: 'completeness.person',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'one entry of version 2 stands for two records of the person',
    request: { person: 'alice' },
    choice: (choice) => leaveOut(choice, 'alice 3'),
    draft: (draft) => shroud(draft, WITHDRAWAL),
    check: 'completeness.person',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'an erasure is shown as an entry of version 2, and the values of the record are disclosed',
    draft: (draft) => {
      shroud(draft, ERASURE);
      revive(draft, 'carol 1');
    },
    check: 'erasure.absent',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'a record is marked as erased by an entry of version 2',
    draft: (draft) => shroud(draft, ERASURE),
    check: 'erasure.proof',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'a record is marked as erased by an entry of version 2 that comes before it',
    draft: (draft) => {
      const { stream, revision } = lineOf(draft, 'alice 1').leaf;
      shroud(draft, 'alice 1');
      const line = lineOf(draft, 'bob 1');
      line.erased = { stream, revision };
      line.disclosures = [];
    },
    check: 'erasure.proof',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the retirement of the version that a later consent names is an entry of version 2',
    plan: consentToRetired,
    draft: (draft) => shroud(draft, 'retired 1'),
    check: 'document.in-force',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the retirement is an entry of version 2, said to be in a later batch',
    plan: consentToRetired,
    draft: (draft) => {
      shroud(draft, 'retired 1');
      lineOf(draft, 'retired 1').batch = batchOf(draft.ledger.plan, WITHDRAWAL);
    },
    check: 'batch.streams',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the publication of the text is an entry of version 2',
    draft: (draft) => shroud(draft, 'published 2'),
    check: 'document.version',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the configuration is an entry of version 2',
    draft: (draft) => shroud(draft, 'configuration 2'),
    check: 'document.configuration',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'an entry of version 2 that no run has follows the last one',
    draft: (draft) => {
      const line = lineOf(draft, WITHDRAWAL);
      const entry = changed(line.entry, { v: 2, revision: line.leaf.revision + 1 });
      draft.entries.splice(draft.entries.indexOf(line) + 1, 0, { ...line, entry, disclosures: [] });
    },
    check: 'batch.streams',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'a changed entry stands beside one of version 2 for the same place',
    draft: (draft) => {
      const line = lineOf(draft, WITHDRAWAL);
      draft.entries.splice(draft.entries.indexOf(line), 0, { ...line, entry: changed(line.entry, { v: 2 }) });
    },
    check: 'entry.order',
    verdict: 'invalid',
  },
];

const HIDDEN_BATCHES: readonly Forgery[] = [
  {
    point: POINT,
    name: 'the withdrawal is left out, and the header of its batch has version 2',
    choice: (choice) => leaveOut(choice, WITHDRAWAL),
    draft: (draft) => shroudBatch(draft, WITHDRAWAL),
    check: 'completeness.runs',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'two records are left out, and the header of the batch of one has version 2',
    choice: (choice) => leaveOut(choice, 'bob 3', WITHDRAWAL),
    draft: (draft) => shroudBatch(draft, WITHDRAWAL),
    check: 'completeness.runs',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the withdrawal is left out of a package for the person, and the header of its batch has version 2',
    request: { person: 'alice' },
    choice: (choice) => {
      leaveOut(choice, WITHDRAWAL);
      choice.records -= 1;
    },
    draft: (draft) => shroudBatch(draft, WITHDRAWAL),
    check: 'completeness.person',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the erasure of a requested record is left out, and the header of its batch has version 2',
    request: { eventIds: [consentId('carol 1')] },
    choice: (choice) => leaveOut(choice, ERASURE),
    draft: (draft) => {
      revive(draft, 'carol 1');
      shroudBatch(draft, ERASURE);
    },
    check: 'erasure.absent',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the retirement is left out, and the header of its batch has version 2',
    plan: moveNotices,
    choice: (choice) => leaveOut(choice, 'retired 1', 'activated 2'),
    draft: (draft) => shroudBatch(draft, 14),
    check: 'document.in-force',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'a record that was never sealed is shown in a batch whose header has version 2',
    draft: (draft) => {
      const line = lineOf(draft, WITHDRAWAL);
      line.entry = line.entry.replace('"compliance_framework":"gdpr"', '"compliance_framework":"kvkk"');
      shroudBatch(draft, WITHDRAWAL);
    },
    check: 'entry.inclusion',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the header of a roll-up has version 2, and a record below it is left out',
    world: 'rolled',
    choice: (choice) => leaveOut(choice, 'nobody 1'),
    draft: (draft) => {
      shroudBatch(draft, 127);
      draft.complete = draft.complete.map((run) => (run.stream === consentsOf(SITE) ? { ...run, first: 2 } : run));
    },
    check: 'completeness.runs',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the header of a roll-up over a record has version 2',
    world: 'rolled',
    request: { eventIds: [consentId('alice 1')] },
    draft: (draft) => shroudBatch(draft, 127),
    check: 'batch.streams',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'a second header of version 2 stands for a batch',
    draft: (draft) => {
      const line = at(draft.batches, 5);
      draft.batches.splice(6, 0, { ...line, header: changed(line.header, { v: 2 }) });
    },
    check: 'batch.header',
    verdict: 'invalid',
  },
];

const HIDDEN_RECORDS: readonly Forgery[] = [
  {
    point: POINT,
    name: 'a record is sealed with other hashes, so that any value can be disclosed',
    plan: (plan) => {
      eventOf(plan, WITHDRAWAL).record.hash_version = 3;
      eventOf(plan, WITHDRAWAL).record.disclosures = {};
    },
    check: 'record.format',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'a record is shown with other hashes than it was sealed with',
    draft: (draft) => {
      const line = lineOf(draft, WITHDRAWAL);
      line.entry = line.entry.replace('"hash_version":2', '"hash_version":3');
    },
    check: 'entry.inclusion',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'a record of a person is sealed with a newer version, and its values are left out',
    request: { person: 'alice' },
    plan: (plan) => {
      eventOf(plan, WITHDRAWAL).record.v = 3;
    },
    check: 'completeness.person',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'an erasure is sealed as a newer event, and the values of the record are disclosed',
    plan: (plan) => {
      eventOf(plan, ERASURE).type = 'SubjectErased.v2';
    },
    draft: (draft) => revive(draft, 'carol 1'),
    check: 'erasure.absent',
    verdict: OPEN,
  },
];

const HIDDEN_PACKAGES: readonly Forgery[] = [
  {
    point: POINT,
    name: 'the withdrawal is left out, and the package states a newer filter',
    choice: (choice) => leaveOut(choice, WITHDRAWAL),
    manifest: (manifest) => {
      manifest.version = '1.2';
      if (isObject(manifest.filter)) manifest.filter = { ...manifest.filter, country: 'DE' };
    },
    check: 'manifest.format',
    verdict: OPEN,
  },
  {
    point: POINT,
    name: 'the withdrawal is left out, and the package states a newer version',
    choice: (choice) => leaveOut(choice, WITHDRAWAL),
    manifest: (manifest) => {
      manifest.version = '1.2';
    },
    check: 'completeness.runs',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the withdrawal is left out, and in a file that is not known',
    choice: (choice) => leaveOut(choice, WITHDRAWAL),
    draft: (draft) => void draft.files.set('ext/entries.ndjson', utf8('{}\n')),
    check: 'completeness.runs',
    verdict: 'invalid',
  },
];

export const FORGED_VERSIONS: readonly Forgery[] = [
  ...HIDDEN_ENTRIES,
  ...HIDDEN_BATCHES,
  ...HIDDEN_RECORDS,
  ...HIDDEN_PACKAGES,
];
