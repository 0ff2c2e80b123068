import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Frontier, frontierNodes } from '../../../schemas/merkle/tree.js';
import { readAuditState } from '../../../verifier-cli/src/network/structure/audit-state.js';
import { compareTiles } from '../../../verifier-cli/src/network/structure/compare-tiles.js';
import { TiledLog } from '../../../verifier-cli/src/network/structure/tiled-log.js';
import { sha256, Tree } from '../../support/independent-tlog.js';
import { makeLedger } from '../dishonest-operator/ledger.js';
import { numberPath, publicationOf, structurePath } from '../dishonest-operator/publication.js';
import { TimeAuthority } from '../dishonest-operator/time-authority.js';
import { makePlan, WORLDS } from '../dishonest-operator/world.js';
import { auditFiles, sourceOf } from './audit-files.js';

/*
 * Others compute their proofs from the published tiles of hashes: an auditor who recomputes the tree from the
 * headers must notice a tile that says something else.
 */

const WIDTH = 256;
const HASH = 32;

/** Every tile of hashes of a tree, by path. */
function tilesOf(leaves: readonly Buffer[]): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (let level = 0, nodes = [...leaves]; nodes.length > 0; level += 1) {
    const next: Buffer[] = [];
    for (let at = 0; at < nodes.length; at += WIDTH) {
      const hashes = nodes.slice(at, at + WIDTH);
      const partial = hashes.length < WIDTH ? `.p/${hashes.length}` : '';
      files.set(`log/tile/${level}/${numberPath(at / WIDTH)}${partial}`, new Uint8Array(Buffer.concat(hashes)));
      if (hashes.length === WIDTH) next.push(Buffer.from(new Tree(hashes).root()));
    }
    nodes = next;
  }
  return files;
}

const leavesOf = (size: number): Buffer[] => Array.from({ length: size }, (_, i) => sha256(`leaf ${i}`));

function frontierOf(leaves: readonly Buffer[]): readonly Uint8Array[] {
  const tree = new Frontier();
  for (const leaf of leaves) tree.append(new Uint8Array(leaf));
  return tree.hashes;
}

/** @returns the problem; null if all tiles are right */
async function problemOf(
  files: ReadonlyMap<string, Uint8Array>,
  frontier: readonly Uint8Array[],
  size: number,
  compared = 0,
  opened: string[] = [],
): Promise<string | null> {
  const log = new TiledLog(
    sourceOf(files, (path) => opened.push(path)),
    size,
  );
  return compareTiles({ log, frontier, compared }).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : 'no error'),
  );
}

describe('the tiles of a tree', () => {
  const SIZES = [1, 2, 255, 256, 257, 511, 512, 600, 2 * WIDTH + 1, WIDTH * WIDTH, WIDTH * WIDTH + WIDTH + 3];

  test.each(SIZES)('of %i leaves are right, and not if one hash of a tile is another', async (size) => {
    const leaves = leavesOf(size);
    const frontier = frontierOf(leaves);
    expect(frontier).toHaveLength(frontierNodes(size).length);
    const files = tilesOf(leaves);
    expect(await problemOf(files, frontier, size)).toBeNull();
    const names = [...files.keys()];
    const isLarge = size > 1000;
    for (const name of isLarge ? [...names.slice(0, 1), ...names.slice(-3)] : names) {
      const right = files.get(name) ?? new Uint8Array();
      for (const place of isLarge ? [right.length - 1] : new Set([0, right.length / 2, right.length - 1])) {
        const wrong = right.slice();
        wrong[Math.floor(place)] = (wrong[Math.floor(place)] ?? 0) ^ 1;
        files.set(name, wrong);
        expect(await problemOf(files, frontier, size), name).toMatch(
          /^the tile .* is not what checkpoint \d+ commits to$/,
        );
      }
      files.set(name, right.slice(0, -1));
      expect(await problemOf(files, frontier, size), name).toMatch(/^the tile .* is not published$/);
      files.delete(name);
      expect(await problemOf(files, frontier, size), name).toMatch(/^the tile .* is not published$/);
      files.set(name, right);
    }
    expect(await problemOf(files, frontier, size)).toBeNull();
  });

  test('two hashes that changed places are noticed in every tile', async () => {
    const leaves = leavesOf(700);
    const files = tilesOf(leaves);
    for (const [name, right] of files) {
      if (right.length < 2 * HASH) continue;
      const swapped = new Uint8Array(
        Buffer.concat([right.slice(HASH, 2 * HASH), right.slice(0, HASH), right.slice(2 * HASH)]),
      );
      expect(await problemOf(new Map(files).set(name, swapped), frontierOf(leaves), 700), name).toContain(
        ' is not what ',
      );
    }
  });

  test('a partial tile may be served as the full one, whose first hashes count', async () => {
    const leaves = leavesOf(300);
    const files = tilesOf(leavesOf(512));
    expect(files.has('log/tile/0/001.p/44')).toBe(false);
    files.set('log/tile/1/000.p/1', (files.get('log/tile/1/000.p/2') ?? new Uint8Array()).slice(0, HASH));
    expect(await problemOf(files, frontierOf(leaves), 300)).toBeNull();
  });

  test('full tiles that were compared before are not read again, and all others are', async () => {
    const size = WIDTH * 5 + 7;
    const leaves = leavesOf(size);
    const [files, frontier] = [tilesOf(leaves), frontierOf(leaves)];
    const opened: string[] = [];
    expect(await problemOf(files, frontier, size, WIDTH * 2 + 9, opened)).toBeNull();
    expect(opened.toSorted()).toEqual(
      ['0/002', '0/003', '0/004', '0/005.p/7', '1/000.p/5'].map((name) => `log/tile/${name}`),
    );
    opened.length = 0;
    expect(await problemOf(files, frontier, size, size, opened)).toBeNull();
    expect(opened).toEqual([]);
  });
});

describe('the audit of a ledger', () => {
  const ledger = makeLedger(makePlan(WORLDS.rolled), new TimeAuthority());
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'altered-tiles-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const altered = (files: Map<string, Uint8Array>, name: string): Map<string, Uint8Array> => {
    const tile = files.get(name)?.slice() ?? new Uint8Array();
    tile[5] = (tile[5] ?? 0) ^ 4;
    return files.set(name, tile);
  };

  test.each(['0/000', '0/001.p/24', '1/000.p/1'])('notices that the tile %s was altered', async (tile) => {
    const files = altered(publicationOf(ledger), `log/tile/${tile}`);
    const audit = await auditFiles(ledger, files, folder);
    expect(audit).toMatchObject({ outcome: 'violation', contradiction: null });
    expect(audit).toMatchObject({ statement: expect.stringContaining('is not what checkpoint 280 commits to') });
    // The alarm stays until the operator publishes what was sealed.
    expect(await auditFiles(ledger, files, folder)).toMatchObject({ outcome: 'violation' });
    expect(await auditFiles(ledger, publicationOf(ledger), folder)).toEqual({ outcome: 'sound' });
  });

  test('notices a tile that is missing', async () => {
    const files = publicationOf(ledger);
    files.delete('log/tile/0/000');
    expect(await auditFiles(ledger, files, folder)).toMatchObject({
      outcome: 'violation',
      statement: expect.stringContaining('the tile 0/0 is not published'),
    });
  });

  test('compares only what is new, and everything once if an earlier program compared nothing', async () => {
    const [early, late] = [publicationOf(ledger, 200), publicationOf(ledger)];
    expect(await auditFiles(ledger, early, folder)).toEqual({ outcome: 'sound' });
    const { name } = ledger.plan.keys.first;
    expect(await readAuditState(folder, name)).toMatchObject({ size: 200, tiles: 200 });
    // What was compared at 200 leaves is in a tile that is read again, because it was partial.
    expect(await auditFiles(ledger, altered(new Map(late), 'log/tile/0/000'), folder)).toMatchObject({
      outcome: 'violation',
    });
    const opened: string[] = [];
    const options = { onOpen: (path: string) => opened.push(path) };
    expect(await auditFiles(ledger, late, folder, options)).toEqual({ outcome: 'sound' });
    expect(opened.filter((path) => /^log\/tile\/\d/.test(path))).toHaveLength(3);
    opened.length = 0;
    expect(await auditFiles(ledger, late, folder, options)).toEqual({ outcome: 'sound' });
    expect(opened).toEqual([]);
    const { tiles, ...older } = (await readAuditState(folder, name)) ?? {};
    expect(tiles).toBe(280);
    await writeFile(join(folder, 'structure.json'), JSON.stringify(older));
    expect(await auditFiles(ledger, altered(new Map(late), 'log/tile/0/000'), folder)).toMatchObject({
      outcome: 'violation',
    });
  });

  test('does not accuse a ledger after a file was missing beyond a roll-up', async () => {
    expect(await auditFiles(ledger, publicationOf(ledger, 200), folder)).toEqual({ outcome: 'sound' });
    const files = publicationOf(ledger);
    files.delete(structurePath(270));
    expect(await auditFiles(ledger, files, folder)).toMatchObject({ outcome: 'violation' });
    expect(await auditFiles(ledger, publicationOf(ledger), folder)).toEqual({ outcome: 'sound' });
  });
});
