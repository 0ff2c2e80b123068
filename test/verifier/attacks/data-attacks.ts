import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64url, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { fixtureDisclosure, fixtureUuid } from '../../support/ledger-fixture-events.js';
import type { Files, PackageHooks } from '../../support/package-builder.js';
import {
  type Attack,
  asIfErased,
  attachmentName,
  attack,
  changeAttachment,
  disclosing,
  disclosuresOf,
  doubt,
  ENTRIES,
  edit,
  event,
  line,
  record,
  streamOf,
  strings,
  withoutEntry,
} from './attack.js';

/** Leaves the last events of a stream out, and everything that the manifest would say of them. */
function shortened(kind: 'consents' | 'notices', labels: readonly string[]): PackageHooks {
  const consents = kind === 'consents' ? labels.length : 0;
  return {
    entryLines: (lines, ledger) => labels.reduce((kept, label) => withoutEntry(label)?.(kept, ledger) ?? kept, lines),
    manifest: (one) => ({
      ...one,
      counts: {
        ...one.counts,
        entries: one.counts.entries - labels.length,
        consents: one.counts.consents - consents,
      },
      complete: one.complete.map((run) =>
        run.stream.startsWith(kind) ? { ...run, last: run.last - labels.length } : run,
      ),
    }),
  };
}

/** Entries, records, disclosures, documents, erasure, completeness. */
export function dataAttacks(): Attack[] {
  const c0 = fixtureUuid('c0');
  const other = fixtureUuid('other site');
  const english = (files: Files) =>
    [...files].find(([, content]) => new TextDecoder().decode(content).startsWith('# Cookies'))?.[0] ?? '';
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
    attack('an entry of an unknown version', 'entry.format', {
      entryText: (text, { label }) => (label === 'c0' ? `${text.slice(0, -2)}2}` : text),
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
      'a record whose digests are not sorted',
      'record.format',
      event('c0', (one) => Object.assign(one.record, { _sd: strings(one.record._sd).reverse() })),
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
      'disclosure.digest',
      disclosing('c0', [fixtureDisclosure('a', 'decision', 'rejected')]),
    ),
    attack(
      'two values under one name',
      'disclosure.digest',
      disclosing('c0', [fixtureDisclosure('a', 'visitor_id', 1), fixtureDisclosure('b', 'visitor_id', 2)]),
    ),
    attack(
      'a salt used twice',
      'disclosure.digest',
      disclosing('c0', [fixtureDisclosure('a', 'visitor_id', 1), fixtureDisclosure('a', 'signer_name', 2)]),
    ),
    attack(
      'a salt of another record',
      'disclosure.salt',
      disclosing('c2', [fixtureDisclosure('c0 1', 'visitor_id', 'someone')]),
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
      'disclosure.attachment',
      disclosing('c0', [fixtureDisclosure('a', 'signature_image', 'data:image/png;base64,AAAA')]),
    ),
    attack('an attachment that nobody names', 'manifest.files', {
      signedFiles: (files) => void files.set(PACKAGE_FILES.attachment(toHex(sha256(utf8('x')))), utf8('x')),
    }),
    attack('a text that was swapped', 'document.version', {
      files: (files) => void files.set(english(files), utf8('# Other cookies')),
    }),
    attack('a text that is missing', 'document.version', { files: (files) => void files.delete(english(files)) }),
    attack('a document version whose publication is left out', 'document.version', {
      entryLines: withoutEntry('published version en'),
    }),
    attack(
      'a document version published with another text',
      'document.version',
      event('published version en', record({ content_sha256: 'a'.repeat(64) })),
    ),
    attack(
      'a document version in another language',
      'document.version',
      event('published version en', record({ language: 'de' })),
    ),
    attack(
      'a document version published twice',
      'document.version',
      event('published version tr', record({ document_version_id: fixtureUuid('version en') })),
    ),
    attack('a consent to an unknown version', 'document.version', event('c0', record({ document_version_id: other }))),
    attack('a consent to another text', 'document.version', event('c0', record({ document_hash: 'a'.repeat(64) }))),
    attack('a configuration that is left out', 'document.configuration', { entryLines: withoutEntry('config') }),
    attack(
      'a configuration that was changed',
      'document.configuration',
      event('config', record({ domain: 'evil.example' })),
    ),
    attack(
      'a consent to another configuration',
      'document.configuration',
      event('c0', record({ site_config_hash: 'a'.repeat(64) })),
    ),
    attack(
      'a record called erased by an erasure that does not list it',
      'erasure.proof',
      line('c0', (one) => Object.assign(one, { disclosures: [], erased: { stream: streamOf('c0'), revision: 5 } })),
    ),
    attack(
      'a record called erased by nothing',
      'erasure.proof',
      line('c0', (one) => Object.assign(one, { disclosures: [], erased: { stream: streamOf('c0'), revision: 99 } })),
    ),
    attack(
      'a record called erased by a consent',
      'erasure.proof',
      line('c0', (one) => Object.assign(one, { disclosures: [], erased: { stream: streamOf('c0'), revision: 1 } })),
    ),
    attack('an erasure that is left out', 'erasure.proof', { entryLines: withoutEntry('e0') }),
    attack(
      'an erasure that does not hold',
      'erasure.proof',
      line('e0', (one) => Object.assign(one, { index: 0 })),
    ),
    attack(
      'an erased value passed off as intact',
      'erasure.values',
      line('c1', (one) => Object.assign(one, { disclosures: disclosuresOf('c1'), erased: undefined })),
    ),
    attack(
      'an erased value beside its mark',
      'erasure.values',
      line('c1', (one) => Object.assign(one, { disclosures: disclosuresOf('c1') })),
    ),
    attack('an erasure that lists a record whose values are shown', 'erasure.values', {
      world: (world) =>
        void Object.assign(asIfErased(world) ?? {}, {
          erased_event_ids: [...[c0, fixtureUuid('c1'), fixtureUuid('c4')].sort()],
        }),
    }),
    attack('an erasure that lists nothing', 'record.format', event('e0', record({ erased_event_ids: [] }))),
    attack('a withdrawal left out of a complete run', 'completeness.runs', { entryLines: withoutEntry('c6') }),
    attack('a record left out of a complete run', 'completeness.runs', { entryLines: withoutEntry('c2') }),
    attack('a first record left out of a complete run', 'completeness.runs', { entryLines: withoutEntry('c0') }),
    attack('a complete run that goes beyond the package', 'completeness.runs', {
      manifest: (one) => ({ ...one, complete: one.complete.map((run) => ({ ...run, last: run.last + 1 })) }),
    }),
    attack('a withdrawal left off the end of a whole site', 'completeness.runs', shortened('consents', ['c6', 'c7'])),
    attack('a first consent left off a whole site', 'completeness.runs', {
      entryLines: withoutEntry('c0'),
      manifest: (one) => ({
        ...one,
        complete: one.complete.map((run) => (run.stream.startsWith('consents') ? { ...run, first: 1 } : run)),
      }),
    }),
    attack('a notice left off the end of its stream', 'completeness.runs', shortened('notices', ['activated en'])),
    attack('complete runs that overlap', 'completeness.runs', {
      manifest: (one) => ({ ...one, complete: [...one.complete, ...one.complete] }),
    }),
    attack('a withdrawal left out after signing', 'manifest.files', {
      signedFiles: edit(ENTRIES, (bytes) =>
        utf8(
          new TextDecoder()
            .decode(bytes)
            .split('\n')
            .filter((one) => !one.includes('withdrawn'))
            .join('\n'),
        ),
      ),
    }),
    doubt('a package without a consent', 'package.records', {
      entryLines: (lines) => lines.filter(({ entry }) => String(entry).includes('notices-')),
      files: (files) => void files.delete(attachmentName(files)),
      manifest: (one) => ({ ...one, complete: [], counts: { ...one.counts, entries: 4, consents: 0, erased: 0 } }),
    }),
  ];
}
