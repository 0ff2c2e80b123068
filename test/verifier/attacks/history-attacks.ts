import { utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { erasureTag } from '../../../schemas/evidence/person-tag.js';
import { fixtureUuid } from '../../support/ledger-fixture-events.js';
import type { Files, PackageHooks } from '../../support/package-builder.js';
import {
  type Attack,
  asIfErased,
  attachmentName,
  attack,
  disclosuresOf,
  doubt,
  ENTRIES,
  edit,
  event,
  line,
  record,
  streamOf,
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

/** Leaves out the proofs of batches without an entry of the package. */
function dropUnneededProofs(files: Files): void {
  const entries = Buffer.from(files.get(PACKAGE_FILES.entries) ?? []).toString('utf8');
  const held = new Set(
    [...entries.matchAll(/"batch":(\d+)/g)].map(([, number]) => PACKAGE_FILES.proofs(Number(number))),
  );
  for (const name of files.keys()) if (name.startsWith('proofs/') && !held.has(name)) files.delete(name);
}

function erasedTag(label: string): Uint8Array {
  return erasureTag(fixtureUuid(label));
}

/**
 * A package of one consent by its event id, with its values, although it was erased afterwards.
 * @param showsTags whether the package shows the tags where the erasure is
 */
function hiddenErasure(showsTags: boolean): PackageHooks {
  return {
    showsAllTags: showsTags,
    entryLines: (lines, ledger) =>
      ['c0', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'e0', 'e1']
        .reduce((kept, label) => withoutEntry(label)?.(kept, ledger) ?? kept, lines)
        .map((one) => {
          const { erased, ...intact } = one;
          return erased === undefined ? one : { ...intact, disclosures: disclosuresOf('c1') };
        }),
    files: (files) => {
      files.delete(attachmentName(files));
      for (const batch of [3, 4]) {
        files.delete(PACKAGE_FILES.proofs(batch));
        if (!showsTags) files.delete(PACKAGE_FILES.tags(batch));
      }
    },
    manifest: (one) => ({
      ...one,
      filter: { ...one.filter, event_ids: [fixtureUuid('c1')] },
      complete: one.complete.slice(1),
      counts: { ...one.counts, entries: 6, consents: 1, erased: 0, attachments: 0 },
    }),
  };
}

/** Documents, erasure, completeness. */
export function historyAttacks(): Attack[] {
  const c0 = fixtureUuid('c0');
  const other = fixtureUuid('other site');
  const english = (files: Files) =>
    [...files].find(([, content]) => new TextDecoder().decode(content).startsWith('# Cookies'))?.[0] ?? '';
  return [
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
    attack(
      'a version whose activation is left out, in a package that does not claim all notices',
      'completeness.runs',
      {
        entryLines: withoutEntry('activated en'),
        manifest: (one) => ({
          ...one,
          complete: one.complete.slice(0, 1),
          counts: { ...one.counts, entries: one.counts.entries - 1 },
        }),
      },
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
      'a category that the configuration does not have',
      'document.configuration',
      event('c0', record({ categories: { analytics: true, sell_my_kidney: true } })),
    ),
    attack(
      'a consent to another configuration',
      'document.configuration',
      event('c0', record({ site_config_hash: 'a'.repeat(64) })),
    ),
    attack(
      'a record called erased by an erasure that does not name it',
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
    attack('an erasure that names a record whose values are shown', 'erasure.values', {
      world: (world) => void Object.assign(asIfErased(world) ?? {}, { erased_event_id: c0 }),
    }),
    attack('an erasure that names nothing', 'record.format', event('e0', record({ erased_event_id: null }))),
    attack(
      'an erasure that names two records',
      'record.format',
      event('e0', record({ erased_event_ids: [c0, fixtureUuid('c1')] })),
    ),
    attack(
      'an erasure with the tag of another record',
      'erasure.proof',
      event('e0', (one) => Object.assign(one, { personTag: 'ab'.repeat(32) })),
    ),
    attack(
      'an erasure without a tag',
      'entry.format',
      event('e0', (one) => Object.assign(one, { personTag: null })),
    ),
    attack('an erasure whose tag is kept out of the sorted tags', 'batch.tags', {
      tags: (tags, batch) => (batch === 3 ? tags.filter((tag) => tag.toString() !== erasedTag('c1').toString()) : tags),
      tagLines: (lines, batch) =>
        batch === 3 ? lines.filter(({ tag }) => tag !== Buffer.from(erasedTag('c1')).toString('hex')) : lines,
    }),
    attack('an erased value in a filtered package without the erasure', 'erasure.absent', hiddenErasure(true)),
    attack('an erased value without a proof that the erasure is absent', 'erasure.absent', hiddenErasure(false)),
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
    attack('a notice left off the end of its stream', 'completeness.runs', shortened('notices', ['activated tr'])),
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
      files: (files) => {
        files.delete(attachmentName(files));
        dropUnneededProofs(files);
      },
      manifest: (one) => ({
        ...one,
        filter: { ...one.filter, consent_type: 'newsletter' },
        complete: one.complete.slice(1),
        counts: { ...one.counts, entries: 5, consents: 0, erased: 0 },
      }),
    }),
  ];
}
