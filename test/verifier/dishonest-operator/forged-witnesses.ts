import type { VerifyOptions } from '../../../verifier-cli/src/index.js';
import type { Draft } from './export.js';
import type { Forgery } from './forgery.js';
import { cosignature, type NamedKey, namedKey } from './keys.js';
import { at, base64, concat, utf8 } from './primitives.js';
import { policy } from './world.js';

/*
 * The relying party trusts the witnesses A and B. The operator holds their cosignatures over some
 * checkpoint, but not their keys.
 */

const POINT = 'witnesses';
const REFUSED = { check: 'ledger.witnesses', verdict: 'invalid' } as const;
const OPEN = { check: 'ledger.witnesses', verdict: 'indeterminate' } as const;
const A = namedKey('witness.example/a', 'witness a', 4);
const B = namedKey('witness.example/b', 'witness b', 4);
const STRANGER = namedKey('witness.example/stranger', 'stranger', 4);
/** A minute after the ledger's newest checkpoint, in seconds. */
const TIME = Date.parse('2026-03-02T08:05:00.000Z') / 1000;
const NEWEST = 16;

export const WITNESSES = { a: A, b: B } as const;

/** The relying party trusts the given witnesses, and requires cosignatures of this many. */
export function requireWitnesses(
  required: number | null,
  ...keys: readonly NamedKey[]
): Pick<VerifyOptions, 'witnesses'> {
  return { witnesses: { keys, required } };
}

/** The text of a note, without its signature lines. */
export function noteText(draft: Draft, size: number): string {
  const { note } = at(
    draft.ledger.checkpoints.filter((one) => one.size === size),
    0,
  );
  const text = Buffer.from(note).toString('utf8');
  return text.slice(0, text.indexOf('\n\n') + 1);
}

/** Writes the file of cosignatures over a checkpoint. @param make its content, of the note's text */
export function cosign(draft: Draft, make: (text: string) => string | Uint8Array, size = NEWEST): void {
  const content = make(noteText(draft, size));
  draft.files.set(`checkpoints/${size}.cosignatures`, typeof content === 'string' ? utf8(content) : content);
}

interface Case {
  readonly make: (text: string) => string | Uint8Array;
  /** Required witnesses; default: 1. */
  readonly required?: number | null;
}

const forged = (name: string, { make, required = 1 }: Case, expected: Pick<Forgery, 'check' | 'verdict'>): Forgery => ({
  point: POINT,
  name,
  options: () => requireWitnesses(required, A, B),
  draft: (draft) => cosign(draft, make),
  ...expected,
});

const byA = (text: string, time = TIME): string => cosignature(A, text, time);
const byB = (text: string): string => cosignature(B, text, TIME);

/** A line with other bytes after the name. */
const bytesOf = (line: string): Uint8Array => new Uint8Array(Buffer.from(at(line.trim().split(' '), 2), 'base64'));
const lineOf = (name: string, bytes: Uint8Array): string => `— ${name} ${base64(bytes)}\n`;

const INVALID_LINES: Readonly<Record<string, (text: string) => string | Uint8Array>> = {
  'states a later time than it signed': (text) => cosignature(A, text, TIME, TIME + 1),
  'states an earlier time than it signed': (text) => cosignature(A, text, TIME, TIME - 86_400),
  'states the time 0': (text) => byA(text, 0),
  'states no possible time': (text) => byA(text, 8_640_000_000_001),
  'is over another root': (text) => byA(text.replace(/[A-Z]/, 'a')),
  'is over another size': (text) => byA(text.replace('\n16\n', '\n17\n')),
  'is over another origin': (text) => byA(text.replace('dishonest', 'honest')),
  'is over the text with an extension line more': (text) => byA(`${text}extension\n`),
  'is over the text with an empty line more': (text) => byA(`${text}\n`),
  'is over the text without its last line feed': (text) => byA(text.slice(0, -1)),
  'is a signature of the note without a time': (text) => {
    const bytes = bytesOf(byA(text));
    return lineOf(A.name, concat(bytes.slice(0, 4), bytes.slice(12)));
  },
  'has a byte more': (text) => lineOf(A.name, concat(bytesOf(byA(text)), new Uint8Array(1))),
  'has a byte less': (text) => lineOf(A.name, bytesOf(byA(text)).slice(0, -1)),
  'is by a stranger under the name and key id of the witness': (text) =>
    lineOf(A.name, concat(A.keyId, bytesOf(cosignature(STRANGER, text, TIME)).slice(4))),
  'is that of the other witness under its name and key id': (text) =>
    lineOf(A.name, concat(A.keyId, bytesOf(byB(text)).slice(4))),
  'is there twice': (text) => byA(text).repeat(2),
  'is there twice, with two times': (text) => byA(text) + byA(text, TIME + 1),
  'is there twice, once invalid': (text) => byA(text) + cosignature(A, text, TIME, TIME + 1),
  'is there twice, around that of the other witness': (text) => byA(text) + byB(text) + byA(text),
  'has no end of line': (text) => byA(text).slice(0, -1),
  'ends with a carriage return': (text) => byA(text).replace('\n', '\r\n'),
  'is after an empty line': (text) => `\n${byA(text)}`,
  'is before an empty line': (text) => `${byA(text)}\n`,
  'is after a byte-order mark': (text) => `\ufeff${byA(text)}`,
  'begins with a hyphen': (text) => byA(text).replace('—', '-'),
  'has two spaces': (text) => byA(text).replace('— ', '—  '),
  'is in base64 without padding': (text) => byA(text).replaceAll('=', ''),
  'is in base64url': (text) => `${byA(text).trim()}-_\n`,
  'is not UTF-8': (text) => concat(utf8(byA(text)), Uint8Array.of(0xff, 0x0a)),
  'is after the note': (text) => `${text}\n${byA(text)}`,
  'is one of 101': (text) => byA(text) + cosignature(STRANGER, text, TIME).repeat(100),
};

const IGNORED_LINES: Readonly<Record<string, (text: string) => string>> = {
  'has the name of the other witness': (text) => byA(text).replace(A.name, B.name),
  'has the key id of the other witness': (text) => lineOf(A.name, concat(B.keyId, bytesOf(byA(text)).slice(4))),
  'has a name in other case': (text) => byA(text).replace('witness', 'Witness'),
  'is by a stranger': (text) => cosignature(STRANGER, text, TIME),
  'is by another key of the same name': (text) => cosignature(namedKey(A.name, 'another key', 4), text, TIME),
  'has the key id of a key of type 1': (text) => cosignature(namedKey(A.name, 'witness a', 1), text, TIME),
  'states a time an hour after the verification': (text) => byA(text, Date.parse('2026-03-05T09:00:00.000Z') / 1000),
};

const FILES: readonly Forgery[] = [
  { point: POINT, name: 'no witness cosigned', options: () => requireWitnesses(1, A, B), ...OPEN },
  forged('one of two required witnesses cosigned', { make: byA, required: 2 }, OPEN),
  forged(
    'a stranger is the second of two required witnesses',
    {
      make: (text) => byA(text) + cosignature(STRANGER, text, TIME),
      required: 2,
    },
    OPEN,
  ),
  forged('the file of cosignatures is empty', { make: () => '' }, REFUSED),
  forged('the file of cosignatures is empty, and no witness is required', { make: () => '', required: null }, REFUSED),
  forged(
    'one cosignature is valid and that of the other witness is not',
    { make: (text) => byA(text) + cosignature(B, `${text}x\n`, TIME) },
    REFUSED,
  ),
  forged(
    'an invalid cosignature is there, and no witness is required',
    { make: (text) => byA(`${text}x\n`), required: null },
    REFUSED,
  ),
  {
    point: POINT,
    name: 'witnesses cosigned only the checkpoint before the newest',
    options: () => requireWitnesses(1, A, B),
    draft: (draft) => cosign(draft, (text) => byA(text) + byB(text), 9),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'cosignatures over the checkpoint before are in the file of the newest',
    options: () => requireWitnesses(1, A, B),
    draft: (draft) => {
      const smaller = noteText(draft, 9);
      cosign(draft, () => byA(smaller) + byB(smaller));
    },
    ...REFUSED,
  },
  {
    point: POINT,
    name: 'cosignatures over the newest checkpoint are in the file of the one before',
    options: () => requireWitnesses(1, A, B),
    draft: (draft) => {
      const newest = noteText(draft, NEWEST);
      cosign(draft, () => byA(newest), 9);
    },
    ...REFUSED,
  },
  {
    point: POINT,
    name: 'an invalid cosignature is over an older checkpoint',
    options: () => requireWitnesses(1, A, B),
    draft: (draft) => {
      cosign(draft, byA);
      cosign(draft, (text) => byA(`${text}x\n`), 4);
    },
    ...REFUSED,
  },
  {
    point: POINT,
    name: 'cosignatures are over a checkpoint that the package does not contain',
    options: () => requireWitnesses(null, A, B),
    draft: (draft) => {
      cosign(draft, byA);
      draft.files.set('checkpoints/12.cosignatures', utf8(byA(noteText(draft, NEWEST))));
    },
    ...REFUSED,
  },
  {
    point: POINT,
    name: 'the witnesses cosigned another ledger',
    options: () => requireWitnesses(2, A, B),
    draft: (draft) => {
      const other = `ledger.example/another\n${noteText(draft, NEWEST).split('\n').slice(1).join('\n')}`;
      cosign(draft, () => byA(other) + byB(other));
    },
    ...REFUSED,
  },
  {
    point: POINT,
    name: 'the witnesses cosigned the history before it was rewritten',
    options: () => requireWitnesses(2, A, B),
    draft: (draft) => {
      const root = base64(draft.ledger.tree.root(NEWEST - 1));
      const other = `${draft.ledger.plan.origin}\n${NEWEST}\n${root}\n`;
      cosign(draft, () => byA(other) + byB(other));
    },
    ...REFUSED,
  },
  {
    point: POINT,
    name: 'the ledger key is given as that of a witness',
    options: ({ plan }) => requireWitnesses(1, plan.keys.first),
    draft: (draft) => cosign(draft, byA),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the ledger cosigns as a witness with its own key',
    options: () => requireWitnesses(1, A, B),
    draft: (draft) => cosign(draft, (text) => cosignature(draft.ledger.plan.keys.first, text, TIME)),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the cosignature is a line of the note',
    options: () => requireWitnesses(1, A, B),
    draft: (draft) => {
      const file = `checkpoints/${NEWEST}.note`;
      draft.files.set(file, concat(draft.files.get(file) ?? utf8(''), utf8(byA(noteText(draft, NEWEST)))));
    },
    check: 'tst.imprint',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the manifest does not list the cosignatures',
    options: () => requireWitnesses(1, A, B),
    draft: (draft) => cosign(draft, byA),
    manifest: ({ files }) => {
      if (typeof files === 'object' && files !== null)
        Reflect.deleteProperty(files, `checkpoints/${NEWEST}.cosignatures`);
    },
    check: 'manifest.files',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the cosignatures of a receipt are over the checkpoint before',
    options: () => requireWitnesses(1, A, B),
    receipt: { label: 'alice 4' },
    draft: (draft) => {
      const smaller = noteText(draft, 9);
      cosign(draft, () => byA(smaller));
    },
    ...REFUSED,
  },
  ...(['checkpoints/016.cosignatures', 'checkpoints/16.1.cosignatures', 'cosignatures'] as const).map(
    (name): Forgery => ({
      point: POINT,
      name: `the cosignatures are in the file ${name}`,
      options: () => requireWitnesses(1, A, B),
      draft: (draft) => void draft.files.set(name, utf8(byA(noteText(draft, NEWEST)))),
      check: 'container.names',
      verdict: 'invalid',
    }),
  ),
];

/** A policy in a batch demands the cosignatures of this many of A and B. */
export const demandWitnesses =
  (required: number, batch = 0): NonNullable<Forgery['plan']> =>
  (plan) => {
    const change = { witnesses: [A.line, B.line].sort(), witnesses_required: required };
    plan.batches.set(batch, [
      ...(plan.batches.get(batch) ?? []),
      policy(1, plan.start + batch * 10_000 - 1000, change),
    ]);
  };

/** The relying party gives keys without a number: that of the policy counts. */
const DEMANDED: readonly Forgery[] = [
  {
    point: POINT,
    name: 'the policy demands two, and one of two given witnesses cosigned',
    plan: demandWitnesses(2),
    options: () => requireWitnesses(null, A, B),
    draft: (draft) => cosign(draft, byA),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the policy demands two, and the only given witness cosigned',
    plan: demandWitnesses(2),
    options: () => requireWitnesses(null, A),
    draft: (draft) => cosign(draft, (text) => byA(text) + byB(text)),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the policy of the newest batch demands one, and none cosigned',
    plan: demandWitnesses(1, 15),
    options: () => requireWitnesses(null, A, B),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the policy demands one, and the relying party two',
    plan: demandWitnesses(1),
    options: () => requireWitnesses(2, A, B),
    draft: (draft) => cosign(draft, byA),
    ...OPEN,
  },
];

/** Cosignatures that no witness gave for the newest checkpoint (docs/evidence-format.md §7.1). */
export const FORGED_WITNESSES: readonly Forgery[] = [
  ...Object.entries(INVALID_LINES).map(([what, make]) => forged(`a cosignature ${what}`, { make }, REFUSED)),
  ...Object.entries(IGNORED_LINES).map(([what, make]) => forged(`a cosignature ${what}`, { make }, OPEN)),
  ...FILES,
  ...DEMANDED,
];
