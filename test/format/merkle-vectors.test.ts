import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { sha256 } from '../../schemas/crypto/digest.js';
import { decodeUtf8, fromBase64 } from '../../schemas/crypto/encoding.js';
import { verifyConsistency } from '../../schemas/merkle/verify-consistency.js';
import { verifyInclusion } from '../../schemas/merkle/verify-inclusion.js';

/**
 * Some vectors have a text in place of roots that are only compared; this project refuses hashes
 * that are not 32 bytes long.
 */
const STAND_IN = "don't care";
const Hash = z.string().transform((text) => {
  const bytes = fromBase64(text) ?? new Uint8Array();
  return decodeUtf8(bytes)?.startsWith(STAND_IN) ? sha256(bytes) : bytes;
});
const Proof = z
  .array(Hash)
  .nullable()
  .transform((path) => path ?? []);
const Inclusion = z.array(
  z.strictObject({
    name: z.string(),
    leafIdx: z.number(),
    treeSize: z.number(),
    root: Hash.nullable(),
    leafHash: Hash.nullable(),
    proof: Proof,
    wantErr: z.boolean(),
  }),
);
const Consistency = z.array(
  z.strictObject({
    name: z.string(),
    size1: z.number(),
    size2: z.number(),
    root1: Hash.nullable(),
    root2: Hash.nullable(),
    proof: Proof,
    wantErr: z.boolean(),
  }),
);

function load<T>(name: string, schema: z.ZodType<T>): T {
  return schema.parse(JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8')));
}

const NONE = new Uint8Array();
const inclusion = load('merkle-inclusion', Inclusion);
const consistency = load('merkle-consistency', Consistency);

describe('the public vectors of transparency-dev/merkle', () => {
  test('are all there, negative ones too', () => {
    expect([inclusion.length, inclusion.filter(({ wantErr }) => wantErr).length]).toEqual([98, 92]);
    expect([consistency.length, consistency.filter(({ wantErr }) => wantErr).length]).toEqual([98, 92]);
  });

  test.each(inclusion)('$name', ({ leafIdx, treeSize, root, leafHash, proof, wantErr }) => {
    expect(verifyInclusion(leafIdx, treeSize, leafHash ?? NONE, proof, root ?? NONE).ok).toBe(!wantErr);
  });

  test.each(consistency)('$name', ({ size1, size2, root1, root2, proof, wantErr }) => {
    expect(verifyConsistency(size1, size2, root1 ?? NONE, root2 ?? NONE, proof).ok).toBe(!wantErr);
  });
});
