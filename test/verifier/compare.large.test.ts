import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex } from '../../schemas/crypto/encoding.js';
import { type BatchHeader, keyedRunLeaf } from '../../schemas/evidence/batch-header.js';
import { checkpointText } from '../../schemas/evidence/checkpoint.js';
import { levelOf } from '../../schemas/evidence/roll-ups.js';
import { consistencyRanges, hashesOfRanges } from '../../schemas/merkle/proofs.js';
import { ShownLeavesProof } from '../../schemas/merkle/shown-leaves.js';
import { treeRoot } from '../../schemas/merkle/tree.js';
import { provedPrefixRoot } from '../../schemas/merkle/verify-consistency.js';
import { leavesProblem } from '../../verifier-cli/src/compare/leaves-problem.js';
import { buildLedger, type FixtureLedger, LEDGER_KEY, ORIGIN } from '../support/ledger-fixture.js';
import { fixtureConsent, fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks, shownTags } from '../support/package-builder.js';
import { signedNote, testSigningKey } from '../support/signing-key.js';
import type { Json } from './attacks/attack.js';
import { type BundledCommand, bundleCommand } from './bundled-command.js';
import { fixedAuthority } from './interop/fixed-authority.js';

let command: BundledCommand;
// Its ledgers are the same each time they are built: the stamps' digests stand in the headers of
// batches.
const authority = fixedAuthority(fileURLToPath(new URL('../../interop', import.meta.url)));
const KEY = ['--ledger-key', 'ledger.vkey'];
const other = testSigningKey(ORIGIN, 'another');
let outputs = 0;
const missing = (): never => {
  throw new Error('the fixture has no such batch');
};

/** The same ledger at an earlier time: only so many batches. */
const cutTo = (batches: number): PackageHooks => ({ world: (world) => void world.batches.splice(batches) });
/** Another consent in the last batch but one: a history that was rewritten from there on. */
const rewrittenFrom = (batch: number): PackageHooks => ({
  world: ({ batches }) => {
    const consent = batches[batch]?.find(({ type }) => type === 'ConsentRecorded.v1');
    if (consent !== undefined) consent.record = { ...consent.record, decision: 'withdrawn' };
  },
});
const both = (...hooks: readonly PackageHooks[]): PackageHooks => ({
  ...Object.assign({}, ...hooks),
  world: (world) => {
    for (const hook of hooks) hook.world?.(world);
  },
});

beforeAll(() => {
  command = bundleCommand();
  command.write('ledger.vkey', LEDGER_KEY.verifierKey);
  command.write('other.vkey', other.verifierKey);
  command.write('whole.zip', buildPackage(authority));
  command.write('again.zip', buildPackage(authority));
  command.write('early.zip', buildPackage(authority, both(cutTo(2), WITHOUT_ERASURE)));
  command.write('three.zip', buildPackage(authority, both(cutTo(4), {})));
  command.write('rewritten.zip', buildPackage(authority, rewrittenFrom(3)));
  command.write('rotated.zip', buildPackage(authority, { rotateAt: 4 }));
  command.write('stranger.zip', buildPackage(authority, { ledgerKey: other }));
  const ledger = buildLedger(authority);
  for (const [size, { note }] of ledger.checkpoints) command.write(`${size}.note`, note);
  for (const [size, { note }] of buildLedger(authority, rewrittenFrom(1)).checkpoints)
    command.write(`forked-${size}.note`, note);
  for (const [from, to] of [
    [1, 5],
    [2, 5],
    [4, 5],
  ] as const) {
    command.write(
      `${from}-${to}.json`,
      JSON.stringify({ data: { from, size: to, hashes: proofOf(ledger, from, to) } }),
    );
  }
});
afterAll(() => command.remove());

/** Batch 1 lists its last person tag before the first one: no order of places is that of the tags. */
const unsortedTags: PackageHooks = {
  tags: (tags, batch) => (batch === 1 ? [...tags.slice(-1), ...tags.slice(0, -1)] : tags),
};
/** Shows of batch 1 only the tags at these places, among those of `unsortedTags`. */
const showing = (...places: readonly number[]): PackageHooks => ({
  ...unsortedTags,
  tagLines: (lines, batch) => {
    if (batch !== 1) return lines;
    const tags = buildLedger(authority, unsortedTags).batches[1]?.tags ?? [];
    return shownTags(tags, new Set(places.map((place) => toHex(tags[place] ?? new Uint8Array()))));
  },
});
/** The runs of batch 1 in the opposite order, of which a package shows some. */
const unsortedStreams = (isShown: (line: Json) => boolean): PackageHooks => ({
  runs: (runs, batch) => (batch === 1 ? [...runs].reverse() : runs),
  batchLines: (lines, { batches }) =>
    lines.map((line, number) => {
      if (number !== 1) return line;
      const runs = batches[1]?.runs ?? [];
      const proof = new ShownLeavesProof();
      const leaves = runs.map((run, index) => ({
        index,
        key: run.key,
        start: run.start,
        first: run.first,
        last: run.last,
      }));
      for (const [index, run] of runs.entries()) {
        const leaf = leaves[index];
        proof.append(keyedRunLeaf(run), leaf !== undefined && isShown(leaf));
      }
      return { ...line, streams: leaves.filter(isShown), hashes: proof.hashes().map(toHex) };
    }),
});

const WITHOUT_ERASURE: PackageHooks = { world: (world) => Object.assign(world, { erased: [] }) };

function proofOf(ledger: FixtureLedger, from: number, to: number): string[] {
  return hashesOfRanges(consistencyRanges(from, to), ({ level, index }) =>
    treeRoot(ledger.ledgerLeaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
  ).map(toHex);
}

function compare(a: string, b: string, ...options: readonly string[]) {
  const result = command.run('compare', a, b, ...options, '--json');
  expect(result.stderr).toBe('');
  const report: unknown = JSON.parse(result.stdout);
  return { status: result.status, report };
}

/** Compares, and has the proof that is written verified by itself, in both orders. */
function proofFrom(a: string, b: string): { kind: unknown; file: string } {
  outputs += 1;
  const file = `proof-${outputs}.json`;
  const { status, report } = compare(a, b, ...KEY, '--output', file);
  expect(report).toMatchObject({ outcome: 'contradiction' });
  expect(status).toBe(1);
  const checked = command.run('check-contradiction', file, ...KEY);
  expect(checked.stdout).toMatch(/^PROVED: /);
  expect(checked.status).toBe(0);
  const recognised = command.run('check', file, ...KEY);
  expect([recognised.stdout, recognised.status]).toEqual([checked.stdout, 0]);
  expect(compare(b, a, ...KEY).status).toBe(1);
  const proof: { kind: unknown } = JSON.parse(readFileSync(join(command.folder, file), 'utf8'));
  return { kind: proof.kind, file };
}

describe('trees that are not sorted', () => {
  test('a tag that one side sees, and that the other is told is absent', () => {
    command.write('present.zip', buildPackage(authority, showing(0)));
    command.write('absent.zip', buildPackage(authority, showing(1, 2)));
    const { kind, file } = proofFrom('present.zip', 'absent.zip');
    expect(kind).toBe('leaves');
    expect(command.run('check-contradiction', file, ...KEY).stdout).toContain('with tags that are not sorted');
  });

  test('streams whose order differs from that of their keys', () => {
    command.write(
      'first.zip',
      buildPackage(
        authority,
        unsortedStreams(({ index }) => index === 0),
      ),
    );
    command.write(
      'last.zip',
      buildPackage(
        authority,
        unsortedStreams(({ index }) => index === 1),
      ),
    );
    expect(proofFrom('first.zip', 'last.zip').kind).toBe('leaves');
  });

  test('a proof with another tag, place or hash is none', () => {
    const { file } = proofFrom('present.zip', 'absent.zip');
    const proof = JSON.parse(readFileSync(join(command.folder, file), 'utf8'));
    const changes: readonly ((copy: typeof proof) => void)[] = [
      (copy) => {
        copy.first.leaves[0].key = 'ab'.repeat(32);
      },
      (copy) => {
        copy.first.leaves[0].index += 1;
      },
      (copy) => {
        copy.second.hashes.pop();
      },
      (copy) => {
        copy.second = copy.first;
      },
      (copy) => {
        copy.first.tree = 'streams';
      },
    ];
    for (const [n, change] of changes.entries()) {
      const copy = structuredClone(proof);
      change(copy);
      command.write(`none-${n}.json`, JSON.stringify(copy));
      expect(command.run('check-contradiction', `none-${n}.json`, ...KEY).status).toBe(1);
    }
  });

  test('a roll-up without what a batch under it has', () => {
    const header = (number: number): BatchHeader => ({
      ...(buildLedger(authority).batches[1]?.header ?? missing()),
      number,
      level: levelOf(number),
      tags_count: 2,
    });
    const key = (byte: number) => new Uint8Array(32).fill(byte);
    const one = { header: header(5), tree: 'tags' as const, leaves: [{ index: 0, key: key(5) }] };
    const over = (leaves: readonly number[]) => ({
      header: header(127),
      tree: 'tags' as const,
      leaves: leaves.map((byte, index) => ({ index, key: key(byte) })),
    });
    expect(leavesProblem(one, over([4, 6]))).toContain('sealed roll-up 127 without a leaf of batch 5');
    expect(leavesProblem(one, over([4, 5]))).toBeNull();
    expect(leavesProblem({ ...one, header: header(128) }, over([4, 6]))).toBeNull();
  });
});

describe('one history', () => {
  test('a package and itself', () => {
    command.write('root.der', authority.root.der);
    const { status, report } = compare('whole.zip', 'again.zip', ...KEY, '--tsa-ca', 'root.der');
    const side = { kind: 'package', size: 5, stamped_at: '2026-03-01T10:49:00.000Z' };
    expect(report).toMatchObject({ outcome: 'same', newer: null, entries_compared: 15, a: side, b: side });
    expect(status).toBe(0);
  });

  test('a package extends an older one, by the proofs that it encloses', () => {
    const { status, report } = compare('early.zip', 'whole.zip', ...KEY);
    expect(report).toMatchObject({ outcome: 'extends', newer: 'b' });
    expect(status).toBe(0);
    expect(compare('whole.zip', 'early.zip', ...KEY).report).toMatchObject({ outcome: 'extends', newer: 'a' });
  });

  test('a package extends a checkpoint that it encloses', () => {
    for (const size of [1, 2, 4]) expect(compare(`${size}.note`, 'whole.zip', ...KEY).status).toBe(0);
  });

  test('two checkpoints, by a proof as it is served', () => {
    expect(compare('2.note', '5.note', ...KEY).status).toBe(3);
    expect(compare('2.note', '5.note', ...KEY, '--consistency', '2-5.json').report).toMatchObject({
      outcome: 'extends',
    });
    expect(compare('5.note', '1.note', ...KEY, '--consistency', '1-5.json').status).toBe(0);
    expect(compare('2.note', '5.note', ...KEY, '--consistency', '4-5.json').status).toBe(3);
  });

  test('compares over a change of the key with the old key alone', () => {
    expect(compare('2.note', 'rotated.zip', ...KEY).report).toMatchObject({ outcome: 'extends' });
  });
});

describe('a contradiction is proved, and the proof is verified by itself', () => {
  test('two salts of one site', () => {
    const salted: PackageHooks = { manifest: (manifest) => ({ ...manifest, salt: 'ab'.repeat(32) }) };
    command.write('salted.zip', buildPackage(authority, salted));
    const { kind, file } = proofFrom('whole.zip', 'salted.zip');
    expect(kind).toBe('salts');
    const proof = JSON.parse(readFileSync(join(command.folder, file), 'utf8'));
    command.write('salted-twice.json', JSON.stringify({ ...proof, second: proof.first }));
    expect(command.run('check-contradiction', 'salted-twice.json', ...KEY).status).toBe(1);
  });

  test('forked checkpoints of one size', () => {
    expect(proofFrom('2.note', 'forked-2.note').kind).toBe('checkpoints');
    expect(proofFrom('whole.zip', 'forked-5.note').kind).toBe('checkpoints');
    expect(proofFrom('whole.zip', 'rewritten.zip').kind).toBe('checkpoints');
  });

  test('two batches of one number, where no checkpoints of one size are at hand', () => {
    const only = (sizes: readonly number[]): PackageHooks => ({
      files: (files) => {
        for (const name of [...files.keys()]) {
          const [, size] = /^checkpoints\/(\d+)\.(?:note|1\.tsr)$/.exec(name) ?? [];
          if (size !== undefined && !sizes.includes(Number(size))) files.delete(name);
        }
      },
    });
    command.write('only-5.zip', buildPackage(authority, { ...rewrittenFrom(1), ...only([5]) }));
    command.write('only-4.zip', buildPackage(authority, { ...cutTo(4), ...only([4]) }));
    expect(proofFrom('only-5.zip', 'only-4.zip').kind).toBe('batches');
  });

  test('two entries for one stream and revision in one history', () => {
    const twin = fixtureConsent('twin', 41);
    const sealed: PackageHooks = {
      world: ({ batches }) => void batches[4]?.push(twin),
      entryParts: (parts, { label }) => (label === 'twin' ? { ...parts, revision: parts.revision - 1 } : parts),
    };
    const without = (label: string): PackageHooks => ({
      ...sealed,
      entryLines: (lines) => lines.filter(({ entry }) => !String(entry).includes(fixtureUuid(label))),
    });
    command.write('with-twin.zip', buildPackage(authority, without('c7')));
    command.write('without-twin.zip', buildPackage(authority, without('twin')));
    expect(proofFrom('with-twin.zip', 'without-twin.zip').kind).toBe('entries');

    // An entry before them that was changed in one package alone, and proves nothing, does not hide
    // them.
    const hooks = without('c7');
    const tampered: PackageHooks = {
      ...hooks,
      entryLines: (lines, ledger) => {
        const changed = lines.map((line) => ({
          ...line,
          entry: String(line.entry).replace('"rejected"', '"accepted"'),
        }));
        expect(changed).not.toEqual(lines);
        return hooks.entryLines?.(changed, ledger) ?? changed;
      },
    };
    command.write('tampered-twin.zip', buildPackage(authority, tampered));
    expect(proofFrom('tampered-twin.zip', 'without-twin.zip').kind).toBe('entries');
  });

  test('a path that is right for the larger tree proves what it begins with', () => {
    const leaves = Array.from({ length: 5 }, (_, i) => sha256(Uint8Array.of(i)));
    const path = hashesOfRanges(consistencyRanges(3, 5), ({ level, index }) =>
      treeRoot(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
    );
    expect(provedPrefixRoot(3, 5, treeRoot(leaves), path)).toEqual(treeRoot(leaves.slice(0, 3)));
    expect(provedPrefixRoot(3, 5, treeRoot(leaves.slice(1)), path)).toBeNull();
    expect(provedPrefixRoot(4, 5, treeRoot(leaves), path)).toBeNull();

    const ledger = buildLedger(authority);
    const note = checkpointText({ origin: ORIGIN, size: 3, root: sha256() });
    command.write('other-3.note', signedNote(note, LEDGER_KEY));
    command.write('3-5.ndjson', `${JSON.stringify({ from: 3, to: 5, path: proofOf(ledger, 3, 5) })}\n`);
    const proof = ['--consistency', '3-5.ndjson', '--output', 'rewritten.json'];
    expect(compare('other-3.note', '5.note', ...KEY, ...proof).report).toMatchObject({
      outcome: 'contradiction',
      contradiction: { kind: 'rewritten' },
    });
    expect(command.run('check-contradiction', 'rewritten.json', ...KEY).status).toBe(0);
  });

  test('a changed proof proves nothing, and neither does one with another key, or with none', () => {
    const { file } = proofFrom('2.note', 'forked-2.note');
    const proof = readFileSync(join(command.folder, file), 'utf8');
    const { first } = JSON.parse(proof);
    const same = command.write('same.json', JSON.stringify({ ...JSON.parse(proof), second: first }));
    expect(command.run('check-contradiction', same, ...KEY).status).toBe(1);
    expect(command.run('check-contradiction', file, '--ledger-key', 'other.vkey').status).toBe(1);
    expect(command.run('check-contradiction', file).status).toBe(3);
    expect([same, file].map((name) => command.run('check', name, '--json').status)).toEqual([1, 3]);
    expect(command.run('check', file, '--ledger-key', 'other.vkey', '--json').stdout).toContain('"not-proved"');
    const page = command.run('check', file, ...KEY, '--html', 'page.html');
    expect([page.status, page.stderr]).toEqual([2, expect.stringContaining('--html applies to packages only')]);
    for (let i = 0; i < first.length; i += 7) {
      const changed = `${first.slice(0, i)}${first[i] === 'A' ? 'B' : 'A'}${first.slice(i + 1)}`;
      const forged = command.write('forged.json', JSON.stringify({ ...JSON.parse(proof), first: changed }));
      expect(command.run('check-contradiction', forged, ...KEY).status, `character ${i}`).toBe(1);
      if (i > 35) break;
    }
  });

  test('no proof overwrites a file', () => {
    command.write('kept.json', 'kept');
    expect(command.run('compare', '2.note', 'forked-2.note', ...KEY, '--output', 'kept.json').status).toBe(2);
    expect(readFileSync(join(command.folder, 'kept.json'), 'utf8')).toBe('kept');
  });
});

describe('nothing is said that is not proved', () => {
  test('without a key, with another, or of another ledger', () => {
    expect(compare('2.note', 'forked-2.note').report).toMatchObject({ outcome: 'indeterminate' });
    expect(compare('whole.zip', 'again.zip').status).toBe(3);
    expect(compare('2.note', 'stranger.zip', ...KEY).report).toMatchObject({ outcome: 'indeterminate' });
    const elsewhere = testSigningKey('elsewhere.example', 'x');
    const text = 'elsewhere.example\n2\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n';
    command.write('elsewhere.note', `${text}\n${elsewhere.signatureLine(text)}`);
    expect(compare('2.note', 'elsewhere.note', ...KEY).report).toMatchObject({ outcome: 'indeterminate' });
  });

  test('an entry that was changed in one package alone contradicts nothing', () => {
    command.write(
      'tampered.zip',
      buildPackage(authority, {
        entryLines: (lines) =>
          lines.map((line) => ({ ...line, entry: String(line.entry).replace('"rejected"', '"accepted"') })),
      }),
    );
    expect(compare('whole.zip', 'tampered.zip', ...KEY).report).toMatchObject({ outcome: 'same' });
  });
});

test.each([
  ['one argument', ['compare', 'whole.zip']],
  ['a file that is not there', ['compare', 'whole.zip', 'missing']],
  ['a file that is neither package nor note', ['compare', 'whole.zip', 'ledger.vkey']],
  ['a proof that is none', ['compare', '2.note', '5.note', '--consistency', 'ledger.vkey']],
  ['no proof to check', ['check-contradiction', 'ledger.vkey']],
  ['JSON that is no proof', ['check', '2-5.json']],
])('2 for %s', (_, args) => {
  const result = command.run(...args);
  expect(result.status).toBe(2);
  expect(result.stdout).toBe('');
  expect(result.stderr).not.toMatch(/\n\s+at /);
});
