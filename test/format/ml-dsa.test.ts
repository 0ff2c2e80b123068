import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { mlDsaSeedOf } from '../../schemas/crypto/derived-seed.js';
import { mlDsa44Key, verifyMlDsa44 } from '../../schemas/crypto/ml-dsa.js';
import {
  formatCosignatureLine,
  parseCosignatures,
  parseWitnessKey,
  subtreeMessage,
  verifyCosignature,
} from '../../schemas/evidence/cosignature.js';
import { formatMlDsaTextLine } from '../../schemas/evidence/ml-dsa-text.js';
import {
  formatNote,
  formatVerifierKey,
  parseNote,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type VerifierKey,
} from '../../schemas/evidence/signed-note.js';
import { verifyCheckpoint, verifyNote } from '../../schemas/evidence/verify-note.js';
import { cosignatureTime, sha256, Tree } from '../support/independent-tlog.js';

const Vector = z.object({
  seed: z.string(),
  message: z.string(),
  public_key_sha256: z.string(),
  deterministic_signature_sha256: z.string(),
  /** By another implementation, with randomness. */
  signature: z.string(),
});
const vector = Vector.parse(JSON.parse(readFileSync(new URL('./ml-dsa-44.json', import.meta.url), 'utf8')));
const key = mlDsa44Key(Buffer.from(vector.seed, 'hex'));

describe('ML-DSA-44', () => {
  const message = Buffer.from(vector.message);
  const signature = Buffer.from(vector.signature, 'base64');

  test('makes the key of a seed, and one signature of a message', () => {
    expect(sha256(key.publicKey).toString('hex')).toBe(vector.public_key_sha256);
    expect(sha256(key.sign(message)).toString('hex')).toBe(vector.deterministic_signature_sha256);
    expect(verifyMlDsa44(key.publicKey, message, key.sign(message))).toBe(true);
  });

  test('accepts the signature of another implementation, and nothing near it', () => {
    expect(verifyMlDsa44(key.publicKey, message, signature)).toBe(true);
    expect(verifyMlDsa44(key.publicKey, Buffer.from('a messagf'), signature)).toBe(false);
    for (const at of [0, 31, 32, 1_000, 2_336, 2_419]) {
      const changed = Uint8Array.from(signature);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(verifyMlDsa44(key.publicKey, message, changed), `byte ${at}`).toBe(false);
    }
    for (const length of [0, 64, 2_419])
      expect(verifyMlDsa44(key.publicKey, message, signature.subarray(0, length))).toBe(false);
    expect(verifyMlDsa44(key.publicKey.subarray(1), message, signature)).toBe(false);
  });

  test('has another seed for each purpose of an Ed25519 key', () => {
    const seed = new Uint8Array(32).fill(7);
    const seeds = [mlDsaSeedOf(seed, 'ledger'), mlDsaSeedOf(seed, 'witness'), seed];
    expect(new Set(seeds.map((one) => Buffer.from(one).toString('hex'))).size).toBe(3);
  });
});

const ORIGIN = 'ledger.example/one';
const tree = Tree.random(5);
const checkpoint = { origin: ORIGIN, size: tree.size, root: new Uint8Array(tree.root()) };
const textOf = (root: Uint8Array, extension = ''): string =>
  `${ORIGIN}\n${tree.size}\n${Buffer.from(root).toString('base64')}\n${extension}`;
const keyNamed = (name: string): VerifierKey => {
  const line = formatVerifierKey(name, key.publicKey, SIGNATURE_TYPES.mlDsa);
  const parsed = parseVerifierKey(line);
  if (parsed === null) throw new Error(`not a verifier key: ${line}`);
  return parsed;
};
const lineOf = (by: VerifierKey, time: number, tree = checkpoint): string =>
  formatCosignatureLine(by, time, key.sign(subtreeMessage(by.name, time, tree) ?? new Uint8Array()));

describe('a key of type 0x06', () => {
  test('is one of a ledger and of a witness, with its own length', () => {
    const line = formatVerifierKey('w.example', key.publicKey, SIGNATURE_TYPES.mlDsa);
    expect(parseWitnessKey(line)).toMatchObject({ name: 'w.example', type: 6 });
    expect(parseVerifierKey(line)).toMatchObject({ name: 'w.example', type: 6 });
    expect(
      parseVerifierKey(formatVerifierKey('w.example', key.publicKey.slice(0, 32), SIGNATURE_TYPES.mlDsa)),
    ).toBeNull();
    expect(parseVerifierKey(formatVerifierKey('w.example', key.publicKey, SIGNATURE_TYPES.ed25519))).toBeNull();
  });
});

describe('a cosignature with ML-DSA-44', () => {
  const witness = keyNamed('witness.example/w1');
  const verify = async (text: string, line: string, by = witness): Promise<Date | null> => {
    const [parsed] = parseCosignatures(Buffer.from(line)) ?? [];
    if (parsed === undefined) throw new Error('not a line');
    return await verifyCosignature(text, parsed, by);
  };

  test('states a time, and is the one of the specification', async () => {
    const line = lineOf(witness, 1_800_000_000);
    expect(await verify(textOf(checkpoint.root), line)).toEqual(new Date(1_800_000_000_000));
    const vkey = formatVerifierKey(witness.name, key.publicKey, SIGNATURE_TYPES.mlDsa);
    expect(cosignatureTime(line, vkey, textOf(checkpoint.root))).toBe(1_800_000_000);
  });

  test('commits to the name of the witness, origin, size and root, and to no extension line', async () => {
    const line = lineOf(witness, 1_800_000_000);
    const text = textOf(checkpoint.root);
    expect(await verify(textOf(checkpoint.root, 'other\n'), line)).not.toBeNull();
    expect(await verify(text.replace(ORIGIN, 'ledger.example/two'), line)).toBeNull();
    expect(await verify(text.replace('\n5\n', '\n6\n'), line)).toBeNull();
    expect(await verify(textOf(new Uint8Array(32)), line)).toBeNull();
    expect(await verify(text, line, keyNamed('witness.example/w2'))).toBeNull();
  });

  test('has a time', async () => {
    expect(await verify(textOf(checkpoint.root), lineOf(witness, 0))).toBeNull();
  });
});

describe('a checkpoint that a ledger signed with ML-DSA-44', () => {
  const ledger = keyNamed(ORIGIN);
  const noteOf = (text: string, ...lines: readonly string[]) => {
    const note = parseNote(formatNote(text, lines));
    if (note === null) throw new Error('not a note');
    return note;
  };

  test('is signed without a time, and by one line only', async () => {
    const line = lineOf(ledger, 0);
    const text = textOf(checkpoint.root);
    expect(await verifyCheckpoint(noteOf(text, line), ledger)).toBe('signed');
    expect(await verifyCheckpoint(noteOf(text, line, line), ledger)).toBe('bad-signature');
    expect(await verifyCheckpoint(noteOf(textOf(new Uint8Array(32)), line), ledger)).toBe('bad-signature');
    expect(await verifyCheckpoint(noteOf(text, line), keyNamed('other.example'))).toBe('no-signature-by-this-key');
  });

  test('is not signed as a text', async () => {
    const text = textOf(checkpoint.root, 'more\n');
    expect(await verifyNote(noteOf(text, lineOf(ledger, 0)), ledger)).toBe('no-signature-by-this-key');
    const textLine = formatMlDsaTextLine(ORIGIN, key.publicKey, key.sign(Buffer.from(text)));
    expect(await verifyNote(noteOf(text, textLine), ledger)).toBe('signed');
    expect(await verifyNote(noteOf(textOf(checkpoint.root), textLine), ledger)).toBe('bad-signature');
    expect(await verifyCheckpoint(noteOf(text, textLine), ledger)).toBe('no-signature-by-this-key');
  });
});
