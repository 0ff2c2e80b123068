import type { Draft, ManifestLie } from './export.js';
import type { Forgery } from './forgery.js';
import { namedKey, signedNote } from './keys.js';
import { at, hex, type JsonRecord, sha256, sha256Hex, utf8, uuid } from './primitives.js';

const POINT = 'manifest and ledger';

function within(manifest: JsonRecord, name: string, change: (member: JsonRecord) => void): void {
  const member = manifest[name];
  if (member === null || typeof member !== 'object' || Array.isArray(member)) throw new TypeError(`no object ${name}`);
  const copy: JsonRecord = Object.fromEntries(Object.entries(member));
  change(copy);
  manifest[name] = copy;
}

function* counts(): Generator<Forgery> {
  for (const name of ['entries', 'consents', 'erased', 'key_lost', 'attachments'])
    for (const by of [-1, 1])
      yield {
        point: POINT,
        name: `the manifest counts ${by > 0 ? 'one too many' : 'one too few'} ${name}`,
        request: { lostKeys: ['bob 2'] },
        manifest: (manifest) =>
          within(manifest, 'counts', (stated) => {
            stated[name] = Number(stated[name]) + by;
          }),
        check: 'manifest.counts',
        verdict: 'invalid',
      };
}

const FORMATS: Readonly<Record<string, (manifest: JsonRecord) => void>> = {
  'has another format': (manifest) => Object.assign(manifest, { format: 'other' }),
  'has a further member': (manifest) => Object.assign(manifest, { note: 'x' }),
  'has a member __proto__': (manifest) =>
    Object.defineProperty(manifest, '__proto__', { value: { x: 1 }, enumerable: true }),
  'has no filter': (manifest) => {
    delete manifest.filter;
  },
  'has a filter without a site': (manifest) =>
    within(manifest, 'filter', (filter) => {
      delete filter.site_id;
    }),
  'has a filter with a further member': (manifest) =>
    within(manifest, 'filter', (filter) => Object.assign(filter, { note: 'x' })),
  'has a negative count': (manifest) => within(manifest, 'counts', (stated) => Object.assign(stated, { entries: -1 })),
  'has a fractional checkpoint': (manifest) => Object.assign(manifest, { checkpoint: 1.5 }),
  'states an unknown reason': (manifest) => Object.assign(manifest, { export: { role: 'dpo', reason: 'curiosity' } }),
  'states a reason in free text': (manifest) => Object.assign(manifest, { export: 'for the court' }),
  'states a reason without a role': (manifest) => Object.assign(manifest, { export: { reason: 'other' } }),
  'states a role that no user has': (manifest) =>
    Object.assign(manifest, { export: { role: 'judge', reason: 'other' } }),
  'states a name that reorders the text beside it': (manifest) =>
    Object.assign(manifest, { export: { role: 'dpo', reason: 'other', name: 'A\u202eB' } }),
  'has a time with an offset': (manifest) => Object.assign(manifest, { exported_at: '2026-03-02T10:00:00.000+02:00' }),
};

const FILES: Readonly<Record<string, (files: JsonRecord, draft: Draft) => void>> = {
  'does not list a file': (files) => {
    delete files['entries.ndjson'];
  },
  'lists a file that is missing': (files) => Object.assign(files, { 'README.txt': sha256Hex('') }),
  'lists a file with another digest': (files) => Object.assign(files, { 'batches.ndjson': sha256Hex('x') }),
  'lists itself': (files) => Object.assign(files, { 'manifest.json': sha256Hex('x') }),
  'lists an attachment': (files, draft) => {
    const name = [...draft.files.keys()].find((one) => one.startsWith('attachments/')) ?? '';
    files[name] = name.slice('attachments/'.length);
  },
};

function* statements(): Generator<Forgery> {
  for (const [how, manifest] of Object.entries(FORMATS))
    yield { point: POINT, name: `the manifest ${how}`, manifest, check: 'manifest.format', verdict: 'invalid' };
  for (const [how, change] of Object.entries(FILES))
    yield {
      point: POINT,
      name: `the manifest ${how}`,
      manifest: (manifest, draft) => within(manifest, 'files', (files) => change(files, draft)),
      check: 'manifest.files',
      verdict: 'invalid',
    };
  const others: readonly [string, ManifestLie, Forgery['check']][] = [
    [
      'names another site',
      (manifest) => within(manifest, 'filter', (filter) => Object.assign(filter, { site_id: uuid('no site') })),
      'entry.stream',
    ],
    ['names another ledger', (manifest) => Object.assign(manifest, { origin: 'other.example' }), 'ledger.key'],
    ['names a smaller checkpoint', (manifest) => Object.assign(manifest, { checkpoint: 9 }), 'ledger.checkpoint'],
    ['names a larger checkpoint', (manifest) => Object.assign(manifest, { checkpoint: 17 }), 'ledger.checkpoint'],
    ['names no checkpoint', (manifest) => Object.assign(manifest, { checkpoint: null }), 'ledger.checkpoint'],
  ];
  for (const [how, manifest, check] of others)
    yield { point: POINT, name: `the manifest ${how}`, manifest, check, verdict: 'invalid' };
}

function* ledgers(): Generator<Forgery> {
  const note = (draft: Draft, change: (text: string) => string): void => {
    const name = `checkpoints/${draft.size}.note`;
    const text = Buffer.from(draft.files.get(name) ?? []).toString();
    draft.files.set(name, utf8(change(text)));
  };
  const signed = (text: string, draft: Draft): string => signedNote(text, draft.ledger.plan.keys.first);
  const textOf = (whole: string): string => whole.slice(0, whole.indexOf('\n\n') + 1);
  const cases: readonly [string, Partial<Forgery>, Forgery['check'], Forgery['verdict']?][] = [
    [
      'the newest checkpoint is signed by another key',
      { draft: (draft) => note(draft, (text) => signedNote(textOf(text), namedKey(draft.ledger.plan.origin, 'x'))) },
      'manifest.certificate',
    ],
    [
      'the signature of the newest checkpoint is of another one',
      {
        draft: (draft) => {
          const other = Buffer.from(draft.files.get('checkpoints/9.note') ?? []).toString();
          note(draft, (text) => `${textOf(text)}${other.slice(other.indexOf('\n\n') + 1)}`);
        },
      },
      'ledger.key',
    ],
    [
      'the newest checkpoint has another root',
      {
        draft: (draft) =>
          note(draft, (text) => signed(textOf(text).replace(/^[A-Za-z0-9+/]{43}=$/m, `${'A'.repeat(43)}=`), draft)),
      },
      'batch.inclusion',
    ],
    [
      'an older checkpoint has another root',
      {
        draft: (draft) => {
          const text = Buffer.from(draft.files.get('checkpoints/9.note') ?? []).toString();
          const changed = textOf(text).replace(/^[A-Za-z0-9+/]{43}=$/m, `${'A'.repeat(43)}=`);
          draft.files.set('checkpoints/9.note', utf8(signed(changed, draft)));
        },
      },
      'ledger.consistency',
    ],
    [
      'the size of the newest checkpoint is not that of its name',
      { draft: (draft) => note(draft, (text) => signed(textOf(text).replace('\n16\n', '\n17\n'), draft)) },
      'ledger.checkpoint',
    ],
    [
      'a consistency proof is changed',
      { draft: (draft) => Object.assign(at(draft.consistency, 0), { path: [hex(sha256('x'))] }) },
      'ledger.consistency',
    ],
    [
      'the consistency proofs are left out',
      {
        draft: (draft) => {
          draft.consistency = [];
        },
      },
      'ledger.consistency',
      'indeterminate',
    ],
  ];
  for (const [name, rest, check, verdict = 'invalid'] of cases) yield { point: POINT, name, ...rest, check, verdict };
}

const UNLISTED: Readonly<Record<string, string>> = {
  'a further folder': 'extra/x.txt',
  'a parent folder': '../x.txt',
  'another case': 'Entries.ndjson',
  'an unpadded size': 'checkpoints/016.note',
  'a short digest': 'notices/abc',
};

function* names(): Generator<Forgery> {
  for (const [what, name] of Object.entries(UNLISTED))
    yield {
      point: POINT,
      name: `a file has a name with ${what}`,
      draft: (draft) => void draft.files.set(name, utf8('x')),
      check: 'container.names',
      verdict: 'invalid',
    };
}

/** Statements of the manifest, and the ledger's signatures. */
export const FORGED_MANIFESTS: readonly Forgery[] = [...counts(), ...statements(), ...ledgers(), ...names()];
