import { constants, deflateRawSync, crc32 as nodeCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concatBytes } from '../../schemas/crypto/encoding.js';
import { crc32 } from '../../verifier-cli/src/container/browser/crc32.js';
import { inflateRaw } from '../../verifier-cli/src/container/browser/inflate.js';
import { inflateRaw as nodeInflateRaw } from '../../verifier-cli/src/container/inflate.js';

async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Everything unpacked and the number of octets used, or null if the data are malformed. */
async function unpack(
  inflate: typeof inflateRaw,
  packed: Uint8Array,
  length: number,
): Promise<{ bytes: Uint8Array; used: number } | null> {
  const generator = inflate(pieces(packed, length));
  const parts: Uint8Array[] = [];
  try {
    for (;;) {
      const next = await generator.next();
      if (next.done === true) return { bytes: concatBytes(...parts), used: next.value };
      parts.push(next.value);
    }
  } catch {
    return null;
  }
}

/** Bytes with repetitions near and far, as DEFLATE lives on. */
const content = fc
  .array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 200 })), { maxLength: 12 })
  .map((parts) => concatBytes(...parts.flatMap(([part, times]) => Array.from({ length: times }, () => part))));

const settings = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_FIXED,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
    constants.Z_FILTERED,
  ),
  memLevel: fc.integer({ min: 1, max: 9 }),
});

test('decompresses the output of zlib, in pieces of any length', async () => {
  await fc.assert(
    fc.asyncProperty(content, settings, fc.integer({ min: 1, max: 70_000 }), async (bytes, options, length) => {
      const packed = new Uint8Array(deflateRawSync(bytes, options));
      const found = await unpack(inflateRaw, packed, length);
      expect(found?.used).toBe(packed.length);
      expect(Buffer.compare(found?.bytes ?? new Uint8Array(), bytes)).toBe(0);
    }),
    { numRuns: 150 },
  );
});

test('pieces are bounded and the end is exact where the output fills a piece', async () => {
  for (const size of [65_535, 65_536, 65_537, 131_072, 4 * 1024 * 1024]) {
    for (const level of [0, 1, 9]) {
      const packed = new Uint8Array(deflateRawSync(new Uint8Array(size), { level }));
      for (const length of [1000, packed.length]) {
        const longest: number[] = [];
        const generator = inflateRaw(pieces(concatBytes(packed, new Uint8Array([7])), length));
        let next = await generator.next();
        for (; next.done !== true; next = await generator.next()) longest.push(next.value.length);
        expect(next.value).toBe(packed.length);
        expect(longest.reduce((sum, piece) => sum + piece, 0)).toBe(size);
        expect(Math.max(...longest)).toBeLessThanOrEqual(64 * 1024);
        expect(await unpack(inflateRaw, packed.subarray(0, -1), length)).toBeNull();
      }
    }
  }
});

test('agrees with zlib on altered, cut and arbitrary data', async () => {
  const altered = fc.tuple(content, settings, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat(3));
  await fc.assert(
    fc.asyncProperty(altered, fc.integer({ min: 1, max: 5000 }), async ([bytes, options, changes, cut], length) => {
      const packed = new Uint8Array(deflateRawSync(bytes, options));
      for (const [at, value] of changes) packed[at % Math.min(packed.length, 200)] = value;
      const data =
        cut === 0 ? concatBytes(packed, new Uint8Array([1, 2, 3])) : packed.subarray(0, packed.length - cut + 1);
      expect(await unpack(inflateRaw, data, length)).toEqual(await unpack(nodeInflateRaw, data, length));
    }),
    { numRuns: 100 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (data) => {
      expect(await unpack(inflateRaw, data, 64)).toEqual(await unpack(nodeInflateRaw, data, 64));
    }),
    { numRuns: 500 },
  );
});

test('the checksum is the one of zlib', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.uint8Array({ maxLength: 500 }), (first, second) => {
      expect(crc32(second, crc32(first, 0))).toBe(nodeCrc32(concatBytes(first, second)));
    }),
  );
});
