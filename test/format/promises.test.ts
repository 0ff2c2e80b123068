import { createHash, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { SignedPromise } from '../../schemas/evidence/promise.js';
import { parseVerifierKey } from '../../schemas/evidence/signed-note.js';
import { verifyPromise } from '../../schemas/evidence/verify-promise.js';
import { promiseTree } from '../../src/pipeline/admission/promises.js';
import { parseShape } from '../../verifier-cli/src/files/parse.js';
import { rootFromPath } from '../support/independent-promise.js';
import { type NoteKey, noteKey, sha256, signedNote, Tree } from '../support/independent-tlog.js';

const ORIGIN = 'ledger.example/test';
const ledger = noteKey(ORIGIN);
const promiser = noteKey(ORIGIN);
const key = parseVerifierKey(ledger.vkey);
const trusted = key === null ? [] : [key];

const textOf = (lines: Readonly<Record<number, string>> = {}): string =>
  [
    'consent-ledger promise v1',
    ORIGIN,
    'consents-019d0b7e-11aa-7bbb-8ccc-0123456789ab',
    randomUUID(),
    createHash('sha256').update('record').digest('base64'),
    '2026-11-22T10:00:00.000Z',
    '2026-11-22T10:10:00.000Z',
  ]
    .map((line, i) => `${lines[i] ?? line}\n`)
    .join('');

const certificateOf = (by: NoteKey = ledger, of: NoteKey = promiser, origin: string = ORIGIN): string =>
  signedNote(`consent-ledger promise key v1\n${origin}\n${of.raw.toString('base64')}\n`, by);

/** A promise among others, made without code of the project. */
function promised(text: string = textOf(), others = 5, changes: Partial<SignedPromise> = {}): SignedPromise {
  const leaf = (content: string): Buffer => sha256(Buffer.of(0), content);
  const leaves = [leaf(text), ...Array.from({ length: others }, () => leaf(textOf()))];
  const path: string[] = [];
  for (let width = 1; width < leaves.length; width *= 2)
    path.push(new Tree(leaves.slice(width, 2 * width)).root().toString('hex'));
  const root = new Tree(leaves).root().toString('base64');
  const signed_root = signedNote(`consent-ledger promises v1\n${ORIGIN}\n${leaves.length}\n${root}\n`, promiser);
  return { text, index: 0, size: leaves.length, path, signed_root, certificate: certificateOf(), ...changes };
}

it('accepts a promise that was made without code of the project', async () => {
  for (const others of [0, 1, 2, 3, 6, 11]) {
    expect(await verifyPromise(promised(textOf(), others), trusted)).toMatchObject({
      outcome: 'genuine',
      promised: { origin: ORIGIN, createdAt: '2026-11-22T10:00:00.000Z', sealedBefore: '2026-11-22T10:10:00.000Z' },
    });
  }
});

it('detects every changed byte of a promise', async () => {
  const bytes = Buffer.from(JSON.stringify(promised()));
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of [1, 0x20]) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ bit;
      const parsed = parseShape(SignedPromise, changed);
      if (!parsed.ok) continue;
      expect((await verifyPromise(parsed.value, trusted)).outcome, `byte ${at}, bit ${bit}`).not.toBe('genuine');
    }
  }
});

it.each([
  ['another title', promised(textOf({ 0: 'consent-ledger promise v2' }))],
  ['another ledger in the text', promised(textOf({ 1: 'other.example/ledger' }))],
  ['a stream without consents', promised(textOf({ 2: 'notices-019d0b7e-11aa-7bbb-8ccc-0123456789ab' }))],
  ['an event id in upper case', promised(textOf({ 3: '019D0B7E-11AA-7BBB-8CCC-0123456789AB' }))],
  ['a digest that is too short', promised(textOf({ 4: 'AAAA' }))],
  ['a day that does not exist', promised(textOf({ 5: '2026-02-30T10:00:00.000Z' }))],
  ['a time before its record', promised(textOf({ 6: '2026-11-22T09:59:59.999Z' }))],
  ['a time that no policy allows', promised(textOf({ 6: '2026-11-24T10:00:00.001Z' }))],
  ['a further line', promised(`${textOf()}more\n`)],
  ['no line feed at its end', promised(textOf().slice(0, -1))],
  ['another index', { ...promised(), index: 1 }],
  ['another size', { ...promised(), size: 7 }],
  ['a longer path', { ...promised(), path: [...promised().path, '00'.repeat(32)] }],
  ['a text that was not signed', { ...promised(), text: textOf() }],
  ['a root that another key signed', promised(textOf(), 5, { certificate: certificateOf(ledger, noteKey(ORIGIN)) })],
  ['a certificate of another ledger', promised(textOf(), 5, { certificate: certificateOf(ledger, promiser, 'other') })],
  [
    'a certificate for manifests',
    promised(textOf(), 5, {
      certificate: signedNote(
        `consent-ledger manifest key v1\n${ORIGIN}\n${promiser.raw.toString('base64')}\n`,
        ledger,
      ),
    }),
  ],
])('refuses a promise with %s', async (_, promise) => {
  expect((await verifyPromise(promise, trusted)).outcome).toBe('forged');
});

it('does not trust a certificate of its own, and needs a key', async () => {
  const own = promised(textOf(), 5, { certificate: certificateOf(noteKey(ORIGIN)) });
  expect((await verifyPromise(own, trusted)).outcome).toBe('unknown-key');
  expect((await verifyPromise(promised(), [])).outcome).toBe('unknown-key');
});

it('computes the paths of trees of every size', () => {
  for (let size = 1; size <= 70; size += 1) {
    const texts = Array.from({ length: size }, (_, i) => `text ${i}`);
    const { root, paths } = promiseTree(texts);
    const leaves = texts.map((text) => sha256(Buffer.of(0), text));
    expect(root).toBe(new Tree(leaves).root().toString('hex'));
    for (const [i, leaf] of leaves.entries()) {
      const path = (paths[i] ?? []).map((hash) => Buffer.from(hash, 'hex'));
      expect(rootFromPath(leaf, i, size, path).toString('hex')).toBe(root);
    }
  }
});
