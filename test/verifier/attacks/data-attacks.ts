import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64url, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import {
  type FixtureEvent,
  type FixtureWorld,
  fixtureDisclosure,
  fixtureUuid,
} from '../../support/ledger-fixture-events.js';
import {
  type Attack,
  attachmentName,
  attack,
  changeAttachment,
  disclosing,
  doubt,
  ENTRIES,
  edit,
  event,
  line,
  record,
  strings,
} from './attack.js';

/** An event once more, as another entry. */
function again({ batches }: FixtureWorld, label: string): FixtureEvent {
  const found = batches.flat().find((one) => one.label === label);
  if (found === undefined) throw new Error(`no event ${label}`);
  return { ...structuredClone(found), label: `${label} again` };
}

/** Entries, records, disclosures. */
export function dataAttacks(): Attack[] {
  const other = fixtureUuid('other site');
  return [
    attack(
      'one character of a record changed',
      'entry.inclusion',
      line('c0', (one) => Object.assign(one, { entry: String(one.entry).replace('accepted', 'rejected') })),
    ),
    attack('an entry that is not canonical', 'entry.format', {
      entryText: (text, { label }) => (label === 'c0' ? text.replace('{', '{ ') : text),
    }),
    attack('an entry whose keys are unordered', 'entry.format', {
      entryText: (text, { label }) => (label === 'c0' ? `{"v":1,${text.slice(1, -7)}}` : text),
    }),
    attack('an entry with a key twice', 'entry.format', {
      entryText: (text, { label }) =>
        label === 'c0' ? text.replace('"decision"', '"decision":"accepted","decision"') : text,
    }),
    attack('an entry with a lone surrogate', 'entry.format', {
      entryText: (text, { label }) => (label === 'c0' ? text.replace('cookies', '\\ud800') : text),
    }),
    attack('an entry with a number in another form', 'entry.format', {
      entryText: (text, { label }) => (label === 'c0' ? text.replace('"v":1}', '"v":1.0}') : text),
    }),
    attack('an entry of version 0', 'entry.format', {
      entryText: (text, { label }) => (label === 'c0' ? `${text.slice(0, -2)}0}` : text),
    }),
    attack(
      'an entry that is nested too deep',
      'entry.format',
      line('c0', (one) => Object.assign(one, { entry: `${'['.repeat(40)}${']'.repeat(40)}` })),
    ),
    attack(
      'a consent without a proof hash',
      'entry.format',
      event('c0', (one) => Object.assign(one, { proofHash: null })),
    ),
    attack(
      'an entry line with an unknown field',
      'entry.format',
      line('c0', (one) => Object.assign(one, { trusted: true })),
    ),
    attack('an entry line that is no JSON', 'entry.format', {
      files: edit(ENTRIES, (bytes) => utf8(`nonsense\n${new TextDecoder().decode(bytes)}`)),
    }),
    attack('more wrong lines than anybody would read', 'container.limits', {
      files: edit(ENTRIES, (bytes) => utf8(`${'x\n'.repeat(10_001)}${new TextDecoder().decode(bytes)}`)),
    }),
    attack('a last line without a line feed', 'entry.format', { files: edit(ENTRIES, (bytes) => bytes.slice(0, -1)) }),
    attack('entries in another order', 'entry.order', { entryLines: (lines) => lines.toReversed() }),
    attack('an entry twice', 'entry.order', { entryLines: (lines) => [...lines.slice(0, 1), ...lines] }),
    attack('two entries for one place', 'entry.order', {
      entryParts: (parts, { label }) => (label === 'c2' ? { ...parts, revision: 1 } : parts),
    }),
    attack('one event at two places of its stream', 'entry.order', {
      world: (world) => void world.batches[4]?.push(again(world, 'c5')),
    }),
    attack('two events of one id that contradict each other', 'entry.order', {
      world: (world) => {
        const other = again(world, 'c5');
        other.record.decision = 'withdrawn';
        world.batches[4]?.push(other);
      },
    }),
    attack(
      'one event id in both streams of a site',
      'entry.order',
      event('activated tr', (one) => {
        one.eventId = fixtureUuid('c5');
        one.record.event_id = one.eventId;
      }),
    ),
    attack('an entry that names another before it', 'entry.chain', {
      entryParts: (parts, { label }) => (label === 'c2' ? { ...parts, previous: 'a'.repeat(64) } : parts),
    }),
    attack('an entry that names none before it', 'entry.chain', {
      entryParts: (parts, { label }) => (label === 'c2' ? { ...parts, previous: null } : parts),
    }),
    attack('a first entry that names one before it', 'entry.chain', {
      entryParts: (parts, { label }) => (label === 'c0' ? { ...parts, previous: 'a'.repeat(64) } : parts),
    }),
    attack('a record of another site', 'entry.stream', event('c0', record({ site_id: other }))),
    attack('a record of another event', 'entry.stream', event('c0', record({ event_id: fixtureUuid('x') }))),
    attack(
      'a consent in the stream of notices',
      'entry.stream',
      event('c5', (one) => Object.assign(one, { stream: one.stream.replace('consents', 'notices') })),
    ),
    attack(
      'a document in the stream of consents',
      'entry.stream',
      event('published version tr', (one) => Object.assign(one, { stream: one.stream.replace('notices', 'consents') })),
    ),
    attack('a package relabelled for another site', 'entry.stream', {
      manifest: (one) => ({ ...one, filter: { ...one.filter, site_id: other } }),
    }),
    attack('a record with a further field', 'record.format', event('c0', record({ note: 'x' }))),
    attack('a record with an unknown decision', 'record.format', event('c0', record({ decision: 'maybe' }))),
    attack(
      'a record with a missing field',
      'record.format',
      event('c0', (one) => void delete one.record.language),
    ),
    attack(
      'a record with an impossible time',
      'record.format',
      event('c0', record({ created_at: '2026-02-30T00:00:00.000Z' })),
    ),
    attack(
      'a consent that ends before it begins',
      'record.format',
      event('c0', record({ valid_until: '2001-01-01T00:00:00.000Z' })),
    ),
    attack(
      'a record with a value of another name',
      'record.format',
      event('c0', (one) => Object.assign(one.record, { disclosures: { income: 'A'.repeat(43) } })),
    ),
    doubt(
      'an event of a later version',
      'record.format',
      event('activated en', (one) => Object.assign(one, { type: 'DocumentVersionActivated.v2' })),
    ),
    attack(
      'a disclosed value that was changed',
      'disclosure.digest',
      line('c0', (one) =>
        Object.assign(one, { disclosures: [fixtureDisclosure('c0 1', 'visitor_id', 'somebody else')] }),
      ),
    ),
    attack(
      'a disclosed value with another salt',
      'disclosure.digest',
      line('c0', (one) => Object.assign(one, { disclosures: [fixtureDisclosure('x', 'visitor_id', 'visitor of c0')] })),
    ),
    attack(
      'a value disclosed twice',
      'disclosure.digest',
      line('c0', (one) =>
        Object.assign(one, { disclosures: [...strings(one.disclosures), ...strings(one.disclosures)] }),
      ),
    ),
    attack(
      'a disclosure of another record',
      'disclosure.digest',
      line('c0', (one) =>
        Object.assign(one, { disclosures: [fixtureDisclosure('c2 1', 'visitor_id', 'visitor of c2')] }),
      ),
    ),
    attack(
      'a malformed disclosure',
      'disclosure.digest',
      line('c0', (one) => Object.assign(one, { disclosures: ['%%%'] })),
    ),
    attack(
      'a value under the name of a public field',
      'record.format',
      disclosing('c0', [fixtureDisclosure('a', 'decision', 'rejected')]),
    ),
    attack(
      'two values under one name',
      'disclosure.digest',
      disclosing('c0', [fixtureDisclosure('a', 'visitor_id', 'ann'), fixtureDisclosure('b', 'visitor_id', 'bob')]),
    ),
    attack(
      'a value shown under the name of another',
      'disclosure.digest',
      event('c0', (one) => {
        one.disclosures = [fixtureDisclosure('a', 'signer_name', 'Ann')];
        one.record.disclosures = { signer_email: disclosureDigest(one.disclosures[0] ?? '') };
      }),
    ),
    attack('a value of another type', 'disclosure.digest', disclosing('c0', [fixtureDisclosure('a', 'visitor_id', 1)])),
    attack(
      'a salt used twice',
      'disclosure.digest',
      disclosing('c0', [fixtureDisclosure('a', 'visitor_id', 'ann'), fixtureDisclosure('a', 'signer_name', 'Ann')]),
    ),
    attack(
      'a salt of another record',
      'disclosure.salt',
      disclosing('c3', [fixtureDisclosure('c0 1', 'visitor_id', 'someone')]),
    ),
    attack(
      'a salt that is too short',
      'disclosure.digest',
      disclosing('c0', [toBase64url(utf8('["c2hvcnQ","visitor_id","x"]'))]),
    ),
    attack(
      'a disclosure with a key twice',
      'disclosure.digest',
      disclosing('c0', [toBase64url(utf8('["AAAAAAAAAAAAAAAAAAAAAA","metadata",{"a":1,"a":2}]'))]),
    ),
    attack(
      'a disclosure beside a notice',
      'disclosure.digest',
      line('config', (one) => Object.assign(one, { disclosures: [fixtureDisclosure('a', 'b', 'c')] })),
    ),
    attack('an attachment that was changed', 'disclosure.attachment', {
      signedFiles: changeAttachment((bytes) => bytes.map((byte) => byte ^ 1)),
    }),
    attack('an attachment of another size', 'disclosure.attachment', {
      signedFiles: changeAttachment((bytes) => bytes.slice(1)),
    }),
    attack('an attachment that is missing', 'disclosure.attachment', {
      signedFiles: (files) => void files.delete(attachmentName(files)),
    }),
    attack(
      'an attachment reference that is malformed',
      'disclosure.digest',
      disclosing('c0', [fixtureDisclosure('a', 'signature_image', 'data:image/png;base64,AAAA')]),
    ),
    attack('an attachment that nobody names', 'manifest.files', {
      signedFiles: (files) => void files.set(PACKAGE_FILES.attachment(toHex(sha256(utf8('x')))), utf8('x')),
    }),
  ];
}
