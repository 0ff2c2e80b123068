import type { Draft, EntryLine } from './export.js';
import type { Forgery } from './forgery.js';
import { namedKey } from './keys.js';
import type { Plan } from './ledger.js';
import { at, base64, canonical, hex, type JsonRecord, sha256, utf8 } from './primitives.js';
import type { ReceiptOptions } from './receipt.js';
import { batchOf, consentId, consentsOf, eventOf, noticesOf, policy, SITE } from './world.js';

/* The operator answers the holder of a record with a receipt that says something else. */

const POINT = 'receipts';
const LABEL = 'alice 2';
const STRUCTURE = { check: 'container.structure', verdict: 'invalid' } as const;
const FORMAT = { check: 'manifest.format', verdict: 'invalid' } as const;
const FILES = { check: 'manifest.files', verdict: 'invalid' } as const;

type How = Omit<ReceiptOptions, 'draft' | 'manifest'> & Pick<Forgery, 'plan' | 'draft' | 'manifest'>;

/** The receipt of a record, made in another way. */
const receipt = (
  name: string,
  { plan, draft, manifest, ...how }: How,
  expected: Pick<Forgery, 'check' | 'verdict'>,
  label = LABEL,
): Forgery => ({
  point: POINT,
  name,
  receipt: { label, ...how },
  ...(plan === undefined ? {} : { plan }),
  ...(draft === undefined ? {} : { draft }),
  ...(manifest === undefined ? {} : { manifest }),
  ...expected,
});

/** Three policies, each in a batch of its own. */
function threePolicies(plan: Plan): void {
  for (const number of [1, 2, 3]) {
    const claimed = plan.start + (number - 1) * 10_000 - 1000;
    plan.batches.set(number - 1, [...(plan.batches.get(number - 1) ?? []), policy(number, claimed)]);
  }
}

function nameOf(files: JsonRecord, pattern: RegExp): string {
  return at(
    Object.keys(files).filter((name) => pattern.test(name)),
    0,
  );
}

const without =
  (pattern: RegExp) =>
  (files: JsonRecord): void => {
    Reflect.deleteProperty(files, nameOf(files, pattern));
  };

function edit(files: JsonRecord, pattern: RegExp, change: (content: string) => string): void {
  const name = nameOf(files, pattern);
  const before = String(files[name]);
  files[name] = change(before);
  if (files[name] === before) throw new RangeError(`${name} did not change`);
}

function mapFiles(text: string, change: (files: [string, unknown][]) => [string, unknown][]): string {
  const json: unknown = JSON.parse(text);
  if (typeof json !== 'object' || json === null || !('files' in json)) throw new TypeError('not a receipt');
  const files = Object.entries(Object(json.files));
  return JSON.stringify({ ...json, files: Object.fromEntries(change(files)) });
}

/** Leaves policies out of a receipt, with what only they need. */
const hide =
  (...labels: readonly string[]) =>
  (draft: Draft): void => {
    const kept = draft.entries.filter(({ leaf }) => !labels.includes(leaf.event.label));
    const gone = new Set(draft.entries.filter((line) => !kept.includes(line)).map(({ batch }) => batch));
    for (const { batch } of kept) gone.delete(batch);
    draft.entries = kept;
    draft.batches = draft.batches.filter(({ sealed }) => !gone.has(sealed.number));
    for (const number of gone) draft.proofs.delete(number);
  };

/** Shows the receipt without the last leaf below its checkpoint. */
function withoutLast(draft: Draft): void {
  draft.batches = draft.batches.filter(({ sealed }) => sealed.number !== draft.size - 1);
}

const LEFT_OUT = { check: 'completeness.policies', verdict: 'invalid' } as const;

const POLICIES: readonly Forgery[] = [
  ...[1, 2, 3].map((number) =>
    receipt(
      `policy ${number} of three is left out`,
      { plan: threePolicies, draft: hide(`policy ${number}`) },
      LEFT_OUT,
    ),
  ),
  receipt(
    'the two newest policies of three are left out',
    { plan: threePolicies, draft: hide('policy 2', 'policy 3') },
    LEFT_OUT,
  ),
  receipt(
    'all policies are left out',
    { plan: threePolicies, draft: hide('policy 1', 'policy 2', 'policy 3') },
    LEFT_OUT,
  ),
  receipt(
    'the newest policy is left out, and so is the last batch',
    {
      plan: threePolicies,
      draft: (draft) => {
        hide('policy 3')(draft);
        withoutLast(draft);
      },
    },
    LEFT_OUT,
  ),
  receipt('the last batch is left out', { plan: threePolicies, draft: withoutLast }, LEFT_OUT),
  receipt('the last batch is left out of a ledger without policies', { draft: withoutLast }, LEFT_OUT),
  receipt(
    'the last batch counts a policy less, after the newest policy was left out',
    {
      plan: threePolicies,
      draft: (draft) => {
        hide('policy 3')(draft);
        for (const line of draft.batches)
          if (line.sealed.number === draft.size - 1) line.header = line.header.replace('"policies":3', '"policies":2');
      },
    },
    { check: 'batch.inclusion', verdict: 'invalid' },
  ),
  receipt(
    'the last batch has a newer version',
    {
      plan: threePolicies,
      draft: (draft) => {
        for (const line of draft.batches)
          if (line.sealed.number === draft.size - 1) line.header = line.header.replace(/"v":1\}$/, '"v":2}');
      },
    },
    { check: 'completeness.policies', verdict: 'indeterminate' },
  ),
];

const CONTAINERS: readonly Forgery[] = [
  receipt('the receipt ends with two line feeds', { text: (text) => `${text}\n\n` }, STRUCTURE),
  receipt('the receipt ends with a space', { text: (text) => `${text} ` }, STRUCTURE),
  receipt('the receipt ends with a carriage return', { text: (text) => `${text}\r\n` }, STRUCTURE),
  receipt('the receipt has white space', { text: (text) => text.replace('":1,', '": 1,') }, STRUCTURE),
  receipt(
    'the receipt is written with indentation',
    { text: (text) => JSON.stringify(JSON.parse(text), null, 2) },
    STRUCTURE,
  ),
  receipt(
    'a name in the receipt is written with an escape',
    { text: (text) => text.replace('"entries.ndjson"', '"\\u0065ntries.ndjson"') },
    STRUCTURE,
  ),
  receipt('a slash in the receipt is written with an escape', { text: (text) => text.replace('/', '\\/') }, STRUCTURE),
  receipt(
    'the version is before the format',
    {
      text: (text) =>
        text.replace('"format":"consent-ledger-receipt","version":1', '"version":1,"format":"consent-ledger-receipt"'),
    },
    STRUCTURE,
  ),
  receipt(
    'the files are before the version',
    {
      text: (text) => {
        const { format, version, files }: JsonRecord = JSON.parse(text);
        return JSON.stringify({ format, files, version });
      },
    },
    STRUCTURE,
  ),
  receipt('the version is written with an exponent', { text: (text) => text.replace('":1,', '":1e0,') }, STRUCTURE),
  receipt(
    'a token is in base64url',
    {
      files: (files) => edit(files, /\.tsr$/, (content) => content.replaceAll('+', '-').replaceAll('/', '_')),
    },
    STRUCTURE,
  ),
  receipt(
    'a token has no padding',
    {
      files: (files) => edit(files, /\.tsr$/, (content) => `${content.replace(/=+$/, '').slice(0, -2)}A`),
    },
    STRUCTURE,
  ),
  receipt(
    'a token has a line feed',
    { files: (files) => edit(files, /\.tsr$/, (content) => `${content}\n`) },
    STRUCTURE,
  ),
  receipt('a text is not in base64', { files: (files) => edit(files, /^notices\//, () => '# Cookies') }, STRUCTURE),
  receipt(
    'the entries are in base64',
    {
      files: (files) => edit(files, /^entries/, (content) => base64(utf8(content))),
    },
    FILES,
  ),
  receipt(
    'a file has a name that a package may not contain',
    { files: (files) => void Object.assign(files, { 'hidden.bin': '' }) },
    {
      check: 'container.names',
      verdict: 'invalid',
    },
  ),
  receipt(
    'a file is outside of its folder',
    { files: (files) => void Object.assign(files, { '../entries.ndjson': '' }) },
    {
      check: 'container.names',
      verdict: 'invalid',
    },
  ),
  receipt(
    'a file of a newer version is enclosed',
    {
      draft: (draft) => void draft.files.set('ext/statement', utf8('x')),
    },
    { check: 'container.names', verdict: 'indeterminate' },
  ),
];

const COUNTED: readonly (readonly [string, RegExp])[] = [
  ['entries', /^entries/],
  ['batches', /^batches/],
  ['proofs', /^proofs\//],
  ['tags', /^tags\//],
  ['token', /\.tsr$/],
  ['note', /\.note$/],
  ['consistency proof', /^checkpoints\/consistency/],
  ['text', /^notices\//],
  ['signature of the manifest', /\.jws$/],
];

const CONTENT: readonly Forgery[] = [
  ...COUNTED.map(([what, pattern]) =>
    receipt(
      `the receipt has no ${what}`,
      { files: without(pattern), size: 16 },
      what.startsWith('signature') ? { check: 'manifest.signature', verdict: 'invalid' } : FILES,
    ),
  ),
  receipt(
    'a file that the manifest does not list is enclosed',
    { files: (files) => void Object.assign(files, { 'README.txt': 'x' }) },
    FILES,
  ),
  receipt(
    'the text is another one',
    { files: (files) => edit(files, /^notices\//, () => base64(utf8('# No\n'))) },
    FILES,
  ),
  receipt(
    'the attachment is missing',
    { disclose: 'all', files: without(/^attachments\//) },
    {
      check: 'disclosure.attachment',
      verdict: 'invalid',
    },
    'bob 1',
  ),
  receipt(
    'the proofs are left out, and not listed',
    { draft: (draft) => draft.proofs.clear() },
    {
      check: 'entry.inclusion',
      verdict: 'invalid',
    },
  ),
  receipt(
    'the tags are left out, and not listed',
    { draft: (draft) => draft.tags.clear() },
    {
      check: 'batch.tags',
      verdict: 'invalid',
    },
  ),
  receipt(
    'the batches are left out',
    { draft: (draft) => void draft.batches.splice(0) },
    {
      check: 'entry.inclusion',
      verdict: 'invalid',
    },
  ),
  receipt(
    'the newest token is left out, and not listed',
    {
      draft: (draft) => void draft.files.delete(`checkpoints/${draft.size}.1.tsr`),
    },
    { check: 'time.stamped', verdict: 'indeterminate' },
  ),
  receipt(
    'it states why it was made',
    { manifest: (manifest) => Object.assign(manifest, { export: { role: 'dpo', reason: 'other' } }) },
    FORMAT,
  ),
  receipt(
    'the newest checkpoint is left out, and not listed',
    {
      draft: (draft) => void draft.files.delete(`checkpoints/${draft.size}.note`),
    },
    { check: 'ledger.checkpoint', verdict: 'invalid' },
  ),
  receipt(
    'the publication of the text is left out',
    { draft: (draft) => dropLine(draft, 'published 1') },
    {
      check: 'document.version',
      verdict: 'invalid',
    },
  ),
  receipt(
    'the activation of the text is left out',
    { draft: (draft) => dropLine(draft, 'activated 1') },
    {
      check: 'document.in-force',
      verdict: 'invalid',
    },
  ),
  receipt(
    'the configuration is left out',
    { draft: (draft) => dropLine(draft, 'configuration 1') },
    {
      check: 'document.configuration',
      verdict: 'invalid',
    },
  ),
  receipt(
    'the record is left out',
    {
      draft: (draft) => {
        dropLine(draft, LABEL);
        const number = batchOf(draft.ledger.plan, LABEL);
        draft.proofs.delete(number);
        draft.tags.delete(number);
      },
    },
    {
      check: 'completeness.events',
      verdict: 'indeterminate',
    },
  ),
  receipt(
    'another record is in its place',
    { disclose: 'none', manifest: namingOnly('bob 1') },
    {
      check: 'completeness.events',
      verdict: 'indeterminate',
    },
  ),
];

function dropLine(draft: Draft, label: string): void {
  draft.entries = draft.entries.filter(({ leaf }) => leaf.event.label !== label);
}

/** The manifest's filter names these records. */
function namingOnly(...labels: readonly string[]): (manifest: JsonRecord) => void {
  return ({ filter }) => {
    if (typeof filter === 'object' && filter !== null) Object.assign(filter, { event_ids: labels.map(consentId) });
  };
}

const setFilter =
  (change: JsonRecord) =>
  ({ filter }: JsonRecord): void => {
    if (typeof filter === 'object' && filter !== null) Object.assign(filter, change);
  };

const KINDS: readonly Forgery[] = [
  receipt(
    'the manifest is that of a package',
    {
      manifest: (manifest) => Object.assign(manifest, { format: 'consent-ledger-evidence' }),
    },
    FORMAT,
  ),
  {
    point: POINT,
    name: 'a package has the manifest of a receipt',
    manifest: (manifest) => Object.assign(manifest, { format: 'consent-ledger-receipt' }),
    ...FORMAT,
  },
  {
    point: POINT,
    name: 'a package for one record has the manifest of a receipt, and hides its erasure',
    request: { eventIds: [consentId('carol 1')] },
    choice: (choice) => {
      choice.entries = new Map([...choice.entries].filter(([{ event }]) => event.type !== 'SubjectErased.v1'));
    },
    draft: (draft) => {
      for (const line of draft.entries) line.erased = null;
      draft.complete = [];
    },
    manifest: (manifest) => Object.assign(manifest, { format: 'consent-ledger-receipt' }),
    ...FORMAT,
  },
  receipt('the receipt names two records and holds them', { besides: ['alice 1'] }, FORMAT),
  receipt('the receipt names two records and holds one', { manifest: namingOnly(LABEL, 'alice 1') }, FORMAT),
  receipt('the receipt names no record', { manifest: setFilter({ event_ids: null }) }, FORMAT),
  receipt('the receipt names an empty list of records', { manifest: setFilter({ event_ids: [] }) }, FORMAT),
  receipt(
    'the receipt claims a run of consents to be complete',
    {
      draft: ({ complete }) => void complete.push({ stream: consentsOf(SITE), first: 3, last: 3 }),
    },
    FORMAT,
  ),
  receipt(
    'the receipt claims the notices to be complete',
    {
      draft: ({ complete }) => void complete.push({ stream: noticesOf(SITE), first: 0, last: 2 }),
    },
    FORMAT,
  ),
  receipt(
    'a second record is in the receipt with its values',
    {
      besides: ['alice 1'],
      manifest: namingOnly(LABEL),
    },
    { check: 'manifest.filter', verdict: 'invalid' },
  ),
  receipt(
    'a value is disclosed that the manifest does not name',
    {
      draft: (draft) => {
        lineWith(draft, LABEL).disclosures = eventOf(draft.ledger.plan, LABEL).values.map(({ text }) => text);
      },
    },
    { check: 'manifest.filter', verdict: 'invalid' },
  ),
  receipt(
    'the manifest counts two records',
    {
      manifest: ({ counts }) => {
        if (typeof counts === 'object' && counts !== null) Object.assign(counts, { consents: 2 });
      },
    },
    { check: 'manifest.counts', verdict: 'invalid' },
  ),
  receipt(
    'the receipt is of another site',
    { manifest: setFilter({ site_id: '00000000-0000-4000-8000-000000000000' }) },
    {
      check: 'entry.stream',
      verdict: 'invalid',
    },
  ),
];

function lineWith(draft: Draft, label: string): EntryLine {
  return at(
    draft.entries.filter(({ leaf }) => leaf.event.label === label),
    0,
  );
}

const OPENING = { check: 'disclosure.person', verdict: 'invalid' } as const;
const idOf = (plan: Plan, name: string): string => hex(plan.persons.get(`${SITE} ${name}`) ?? sha256(''));

const PERSONS: readonly Forgery[] = [
  receipt(
    'the tag is opened as that of another person',
    {
      draft: (draft) => {
        lineWith(draft, LABEL).person = { id: idOf(draft.ledger.plan, 'bob'), n: 2 };
      },
    },
    OPENING,
  ),
  receipt(
    'the tag of a record without a person is opened',
    {
      draft: (draft) => {
        lineWith(draft, 'nobody 1').person = { id: idOf(draft.ledger.plan, 'alice'), n: 1 };
      },
    },
    OPENING,
    'nobody 1',
  ),
  receipt(
    'the visitor of a record with a random tag is named',
    {
      plan: (plan) => {
        eventOf(plan, LABEL).person = null;
      },
    },
    { check: 'disclosure.person', verdict: 'indeterminate' },
  ),
  receipt(
    'the tag is opened without the visitor',
    {
      disclose: ['user_agent'],
      draft: (draft) => {
        lineWith(draft, LABEL).person = { id: idOf(draft.ledger.plan, 'alice'), n: 2 };
      },
    },
    OPENING,
  ),
  receipt(
    'the visitor is named as another person',
    {
      draft: (draft) => {
        const other = eventOf(draft.ledger.plan, 'bob 1').values.filter(({ name }) => name === 'visitor_id');
        lineWith(draft, LABEL).disclosures = other.map(({ text }) => text);
      },
    },
    { check: 'disclosure.digest', verdict: 'invalid' },
  ),
  receipt(
    'the opening is in the line of the publication',
    {
      draft: (draft) => {
        const line = lineWith(draft, LABEL);
        Object.assign(lineWith(draft, 'published 1'), { person: line.person });
      },
    },
    { check: 'disclosure.digest', verdict: 'invalid' },
  ),
  {
    point: POINT,
    name: 'a package opens the tag of a record',
    draft: (draft) => {
      lineWith(draft, LABEL).person = { id: idOf(draft.ledger.plan, 'alice'), n: 2 };
    },
    ...OPENING,
  },
  receipt(
    'an erased record is shown with its values',
    {
      size: 16,
      draft: (draft) => {
        const line = lineWith(draft, 'carol 1');
        line.disclosures = line.leaf.event.values.slice(0, 1).map(({ text }) => text);
      },
    },
    { check: 'erasure.values', verdict: 'invalid' },
    'carol 1',
  ),
  receipt(
    'a record is marked as erased by an event that names none',
    {
      disclose: 'none',
      draft: (draft) => {
        lineWith(draft, LABEL).erased = { stream: noticesOf(SITE), revision: 0 };
      },
    },
    { check: 'erasure.proof', verdict: 'invalid' },
  ),
];

/** Shows only the smallest checkpoint. */
function olderCheckpoint(draft: Draft): void {
  for (const size of [9, 16]) for (const name of ['note', '1.tsr']) draft.files.delete(`checkpoints/${size}.${name}`);
  draft.consistency = [];
}

const TIMES: readonly Forgery[] = [
  receipt(
    'the checkpoint is older than the batch of the record',
    { size: 16, draft: olderCheckpoint, manifest: (manifest) => Object.assign(manifest, { checkpoint: 4 }) },
    {
      check: 'batch.inclusion',
      verdict: 'invalid',
    },
    'alice 3',
  ),
  receipt(
    'the manifest names an older checkpoint than the receipt holds',
    {
      size: 16,
      manifest: (manifest) => Object.assign(manifest, { checkpoint: 9 }),
    },
    { check: 'ledger.checkpoint', verdict: 'invalid' },
  ),
  receipt(
    'the manifest names no checkpoint',
    {
      manifest: (manifest) => Object.assign(manifest, { checkpoint: null }),
    },
    { check: 'ledger.checkpoint', verdict: 'invalid' },
  ),
  receipt(
    'the receipt claims to be made a day later',
    {
      draft: (draft) => void Object.assign(draft, { exportedAt: draft.exportedAt + 26 * 3_600_000 }),
    },
    { check: 'time.fresh', verdict: 'indeterminate' },
  ),
  receipt(
    'the receipt claims to be made before its stamp',
    {
      draft: (draft) => void Object.assign(draft, { exportedAt: draft.exportedAt - 3_600_000 }),
    },
    { check: 'time.claimed', verdict: 'invalid' },
  ),
  receipt(
    'the record is sealed later than the policy allows',
    {
      plan: (plan) =>
        void plan.batches.set(0, [policy(1, plan.start - 1000, { seal_within_seconds: 2, stamp_within_seconds: 3 })]),
    },
    { check: 'time.claimed', verdict: 'indeterminate' },
  ),
  receipt(
    'the delays of the policy are changed in the receipt',
    {
      plan: (plan) =>
        void plan.batches.set(0, [policy(1, plan.start - 1000, { seal_within_seconds: 2, stamp_within_seconds: 3 })]),
      draft: (draft) => {
        const line = lineWith(draft, 'policy 1');
        line.entry = line.entry.replace('"seal_within_seconds":2', '"seal_within_seconds":600');
      },
    },
    { check: 'entry.inclusion', verdict: 'invalid' },
  ),
  receipt(
    'the record is shown in another batch',
    {
      draft: (draft) =>
        void Object.assign(lineWith(draft, LABEL), { batch: batchOf(draft.ledger.plan, 'published 1') }),
    },
    { check: 'batch.streams', verdict: 'invalid' },
  ),
  receipt(
    'the record is changed',
    {
      draft: (draft) => {
        const line = lineWith(draft, LABEL);
        line.entry = line.entry.replace('"decision":"partial"', '"decision":"accepted"');
      },
    },
    { check: 'entry.inclusion', verdict: 'invalid' },
  ),
  receipt(
    'the record is another one of its stream and place',
    {
      draft: (draft) => {
        const line = lineWith(draft, LABEL);
        draft.entries.push({ ...line, entry: line.entry.replace('"decision":"partial"', '"decision":"accepted"') });
      },
    },
    { check: 'entry.order', verdict: 'invalid' },
  ),
];

/** The manifest is changed after it was signed. */
const SIGNATURES: readonly Forgery[] = [
  receipt(
    'the manifest is changed after it was signed',
    {
      files: (files) => edit(files, /^manifest\.json$/, (text) => text.replace('operator@', 'visitor@')),
    },
    { check: 'manifest.signature', verdict: 'invalid' },
  ),
  receipt(
    'the manifest is signed by a key that the ledger did not certify',
    {
      plan: (plan) => Object.assign(plan.keys, { next: namedKey(plan.origin, 'stolen') }),
      files: (files) =>
        edit(files, /\.jws$/, (jws) => {
          const [header = '', , signature = ''] = jws.split('.');
          const parsed: JsonRecord = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
          const { publicKey } = namedKey('x', 'another manifest key');
          const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
          return `${Buffer.from(canonical({ ...parsed, jwk })).toString('base64url')}..${signature}`;
        }),
    },
    { check: 'manifest.certificate', verdict: 'invalid' },
  ),
  receipt(
    'the order of the files is another one, and a file is changed',
    {
      text: (text) =>
        mapFiles(text, (files) =>
          files
            .reverse()
            .map(([name, content]) => [name, name === 'entries.ndjson' ? `${String(content)}\n` : content]),
        ),
    },
    FILES,
  ),
];

/** Receipts that do not show what was recorded (docs/evidence-format.md §16). */
export const FORGED_RECEIPTS: readonly Forgery[] = [
  ...POLICIES,
  ...CONTAINERS,
  ...CONTENT,
  ...KINDS,
  ...PERSONS,
  ...TIMES,
  ...SIGNATURES,
];
