import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import { ExportFailed } from '../../../src/evidence/package/errors.js';
import type { Content } from '../../../src/evidence/package/package-writer.js';
import { refuseTooManyTags } from '../../../src/evidence/package/scope.js';
import { type AbsentTag, AbsentTags, mostTagBytes, TagsFiles } from '../../../src/evidence/package/tags-files.js';
import { type LedgerWorld, openLedgerWorld } from './ledger-world.js';

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
  await world.record(
    world.site,
    Array.from({ length: 6 }, (_, n) => ({ visitorId: `visitor-${n}` })),
  );
  await world.seal(2);
});
afterAll(() => world.close());

test('a run with more tags than the file of a complete roll-up holds is refused before any work', async () => {
  const { pipeline, site } = world;
  const db = pipeline.worker;
  const stream = consentsStream(site.siteId);
  const { rows } = await db.query('select batch from leaves where stream = $1 order by revision', [stream]);
  const batches = z.array(z.object({ batch: z.int() })).parse(rows);
  const end = Math.max(...batches.map(({ batch }) => batch)) + 1;
  const run = { stream, first: 0, last: 5 };
  const all = { mostTags: 5, period: end };
  const refusal = { problem: 'too-large', message: expect.stringContaining(`6 of the records are in ${end} batches`) };
  await expect(refuseTooManyTags(db, [run], end, all)).rejects.toMatchObject(refusal);
  await refuseTooManyTags(db, [run], end, { ...all, mostTags: 6 });
  // No roll-up covers the batches yet.
  await refuseTooManyTags(db, [run], end - 1, all);
  await refuseTooManyTags(db, [{ ...run, last: 4 }], end, all);
  await expect(refuseTooManyTags(db, [{ ...run, last: 4 }], end, { ...all, mostTags: 4 })).rejects.toThrow(
    ExportFailed,
  );

  for (let period = 1; period < end; period += 1) {
    const counts = new Map<number, number>();
    for (const { batch } of batches) {
      const number = Math.floor(batch / period);
      if ((number + 1) * period <= end) counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    const most = Math.max(0, ...counts.values());
    await refuseTooManyTags(db, [run], end, { mostTags: most, period });
    if (most > 0)
      await expect(refuseTooManyTags(db, [run], end, { mostTags: most - 1, period })).rejects.toThrow(ExportFailed);
  }
});

test('the tags of a package may have as many bytes as a verifier reads', () => {
  expect(mostTagBytes(0)).toBe(PROOF_LIMITS.tagBytes);
  // Five million whole records: 6 GB of entries, and 91 bytes for each of three tags.
  expect(mostTagBytes(6_000_000_000)).toBeGreaterThan(5_000_000 * 3 * 91);
});

test('shows the tags of the own leaves, and refuses files above the limit', async () => {
  const leaves = Array.from({ length: 9 }, () => ({ hash: randomBytes(32), tag: randomBytes(32) }));
  const sorted = leaves.map(({ tag }) => tag).sort(Buffer.compare);
  const batch = {
    number: 3,
    level: 0 as const,
    count: 9,
    root: null,
    tagsCount: 9,
    tagsRoot: toHex(treeRoot(sorted.map(personTagLeaf))),
  };
  const files = new Map<string, string>();
  const writer = {
    digests: new Map<string, string>(),
    add: async (name: string, content: Content): Promise<number> => {
      const pieces: Uint8Array[] = [];
      for await (const piece of content) pieces.push(piece);
      files.set(name, Buffer.concat(pieces).toString());
      return 0;
    },
  };
  const own = new Map([[3, [7, 0, 4]]]);
  const tagsFiles = (mostBytes: number, erasures: readonly AbsentTag[] = []) =>
    new TagsFiles(world.pipeline.worker, writer, new AbsentTags([], erasures, new Set([3])), own, mostBytes);
  await tagsFiles(1_000).addBatch(batch, leaves);
  const lines = (files.get('tags/3.ndjson') ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const shown = [0, 4, 7].map((index) => leaves[index]?.tag ?? Buffer.alloc(0)).sort(Buffer.compare);
  expect(lines.filter((line) => 'tag' in line)).toEqual(
    shown.map((tag) => ({ index: sorted.indexOf(tag), tag: toHex(tag) })),
  );
  expect(lines.filter((line) => 'hash' in line).length).toBeGreaterThan(0);
  files.clear();
  await expect(tagsFiles(200).addBatch(batch, leaves)).rejects.toMatchObject({ problem: 'too-large' });
  expect(files.size).toBe(0);

  const one = [{ tag: randomBytes(32), from: 0 }];
  expect(
    [[], one].flatMap((next) => [[], one].map((erasures) => new AbsentTags(next, erasures, new Set()).searches)),
  ).toEqual([0, 1, 1, 2]);
  // A verifier reads the file for the entries, and once more for the absence of an erasure.
  const absent = [{ tag: randomBytes(32), from: 0 }];
  await tagsFiles(1_000_000, absent).addBatch(batch, leaves);
  const bytes = (files.get('tags/3.ndjson') ?? '').length;
  await tagsFiles(2 * bytes, absent).addBatch(batch, leaves);
  await expect(tagsFiles(2 * bytes - 1, absent).addBatch(batch, leaves)).rejects.toMatchObject({
    problem: 'too-large',
  });
});
