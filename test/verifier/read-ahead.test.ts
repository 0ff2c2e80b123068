import { expect, test } from 'vitest';
import { memorySource, readAhead } from '../../verifier-cli/src/container/byte-source.js';
import { drawing } from './dishonest-operator/random-changes.js';

const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 251);

/** The source, and how often it was read. */
function counted() {
  const source = memorySource(bytes);
  const reads: number[] = [];
  const ahead = readAhead({
    size: source.size,
    read: (offset, length) => {
      reads.push(length);
      return source.read(offset, length);
    },
  });
  return { ahead, reads };
}

test('every read has the bytes of its place, also of reads at the same time', async () => {
  const { ahead } = counted();
  const draw = drawing(1);
  for (let i = 0; i < 300; i += 1) {
    const places = Array.from({ length: 3 }, () => {
      const offset = draw(bytes.length);
      return [offset, draw(Math.min(bytes.length - offset, draw(2) === 0 ? 100 : 70_000))] as const;
    });
    const read = await Promise.all(places.map(([offset, length]) => ahead.read(offset, length)));
    for (const [i, [offset, length]] of places.entries())
      expect(Buffer.compare(read[i] ?? Buffer.of(), bytes.subarray(offset, offset + length))).toBe(0);
  }
});

test('short reads that follow one another are one request, and long ones are not read twice', async () => {
  const { ahead, reads } = counted();
  for (let at = 0; at + 50 <= 30_000; at += 50) await ahead.read(at, 50);
  expect(reads).toEqual([32 * 1024]);
  await ahead.read(0, 100_000);
  expect(reads).toEqual([32 * 1024, 100_000]);
  expect(await ahead.read(bytes.length, 0)).toEqual(new Uint8Array());
  await ahead.read(bytes.length - 10, 10);
  expect(reads.at(-1)).toBe(10);
});

test('a read outside of the source is refused', async () => {
  const { ahead } = counted();
  await expect(ahead.read(bytes.length - 1, 2)).rejects.toThrow('outside');
  await expect(ahead.read(-1, 2)).rejects.toThrow('outside');
});
