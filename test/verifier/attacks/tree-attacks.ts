import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { minute } from '../../support/ledger-fixture-events.js';
import { type Attack, attack, batchLine, FLIPPED, line, path } from './attack.js';

/** Lines of paths, no two alike, so that they pack less tightly than a bomb. */
function manyPaths(count: number) {
  const hashes: string[] = Array(63).fill('a'.repeat(64));
  return Array.from({ length: count }, (_, i) => ({ index: i, path: [toHex(sha256(utf8(`${i}`))), ...hashes] }));
}

/** Tree, batches and ledger history. */
export function treeAttacks(): Attack[] {
  return [
    attack(
      'a path with one hash changed',
      'entry.inclusion',
      path(1, ([first = '', ...rest]) => [FLIPPED(first), ...rest]),
    ),
    attack(
      'a path with a hash too many',
      'entry.inclusion',
      path(1, (hashes) => [...hashes, 'a'.repeat(64)]),
    ),
    attack(
      'a path with a hash before it',
      'entry.inclusion',
      path(1, (hashes) => ['a'.repeat(64), ...hashes]),
    ),
    attack(
      'a path that is cut',
      'entry.inclusion',
      path(1, (hashes) => hashes.slice(0, -1)),
    ),
    attack(
      'a path whose hashes are swapped',
      'entry.inclusion',
      path(1, (hashes) => hashes.toReversed()),
    ),
    attack(
      'a path for another index',
      'entry.inclusion',
      path(1, (_, one) => Object.assign(one, { index: 1 })),
    ),
    attack(
      'a path of 65 hashes',
      'entry.inclusion',
      path(1, () => Array.from({ length: 65 }, () => 'a'.repeat(64))),
    ),
    attack(
      'a path of hashes that are too short',
      'entry.inclusion',
      path(1, (hashes) => hashes.map((hash) => hash.slice(2))),
    ),
    attack(
      'an index that is changed by one',
      'entry.inclusion',
      line('c0', (one) => Object.assign(one, { index: 1 })),
    ),
    attack(
      'an index at the count',
      'entry.inclusion',
      line('c0', (one) => Object.assign(one, { index: 7 })),
    ),
    attack(
      'a negative index',
      'entry.format',
      line('c0', (one) => Object.assign(one, { index: -1 })),
    ),
    attack(
      'a huge index',
      'entry.format',
      line('c0', (one) => Object.assign(one, { index: 2 ** 60 })),
    ),
    attack(
      'a fractional index',
      'entry.format',
      line('c0', (one) => Object.assign(one, { index: 0.5 })),
    ),
    attack(
      'an entry of another batch',
      'entry.inclusion',
      line('c0', (one) => Object.assign(one, { batch: 3 })),
    ),
    attack(
      'an entry of a batch that is not enclosed',
      'entry.inclusion',
      line('c0', (one) => Object.assign(one, { batch: 2 })),
    ),
    attack('a proof that is missing', 'entry.inclusion', {
      proofForm: 'paths',
      proofLines: (lines, batch) => (batch === 1 ? lines.slice(1) : undefined),
    }),
    attack('a proof file that is missing', 'entry.inclusion', {
      files: (files) => void files.delete(PACKAGE_FILES.proofs(1)),
    }),
    attack('a leaf list with one leaf changed', 'entry.inclusion', {
      proofLines: (lines, batch) =>
        batch === 3 ? lines.map((one, i) => (i === 1 ? { ...one, leaf: 'a'.repeat(64) } : one)) : undefined,
    }),
    attack('a leaf list with the odd leaf doubled', 'entry.inclusion', {
      proofLines: (lines, batch) => (batch === 3 ? [...lines, { ...lines.at(-1), index: lines.length }] : undefined),
    }),
    attack('a leaf list out of order', 'entry.inclusion', {
      proofLines: (lines, batch) => (batch === 3 ? lines.toReversed() : undefined),
    }),
    attack('leaves and paths mixed', 'entry.inclusion', {
      proofLines: (lines, batch) => (batch === 3 ? [{ index: 0, path: [] }, ...lines.slice(1)] : undefined),
    }),
    attack('proofs that are larger than the entries need', 'container.limits', {
      proofForm: 'paths',
      proofLines: (lines, batch) => (batch === 1 ? manyPaths(4200) : lines),
    }),
    attack('a path longer than any in its batch', 'entry.inclusion', {
      proofForm: 'paths',
      proofLines: (lines, batch) =>
        batch === 1 ? [{ index: 6, path: Array(4).fill('a'.repeat(64)) }, ...lines] : undefined,
    }),
    attack('two paths for one leaf', 'entry.inclusion', {
      proofForm: 'paths',
      proofLines: (lines, batch) => (batch === 1 ? [...lines.slice(-1), ...lines.slice(1)] : undefined),
    }),
    attack('a batch whose count is doubled', 'batch.inclusion', {
      batchLines: (lines) =>
        lines.map((one, i) =>
          i === 1 ? { ...one, header: String(one.header).replace('"count":7', '"count":14') } : one,
        ),
    }),
    attack('a batch whose odd leaf was sealed twice', 'batch.streams', {
      leaves: (leaves, batch) => (batch === 3 ? [...leaves, ...leaves.slice(-1)] : leaves),
      runs: (runs, batch) => (batch === 3 ? runs.map((run) => ({ ...run, first: run.first + 1 })) : runs),
    }),
    attack(
      'a header that is not canonical',
      'batch.header',
      batchLine(1, (one) => Object.assign(one, { header: String(one.header).replace('{', '{ ') })),
    ),
    attack(
      'a header with an unknown field',
      'batch.header',
      batchLine(1, (one) => Object.assign(one, { header: String(one.header).replace('{', '{"a":1,') })),
    ),
    attack(
      'a header with a key twice',
      'batch.header',
      batchLine(1, (one) => Object.assign(one, { header: String(one.header).replace('{', '{"after":null,') })),
    ),
    attack(
      'a batch with another number',
      'batch.inclusion',
      batchLine(1, (one) => Object.assign(one, { header: String(one.header).replace('"number":1', '"number":2') })),
    ),
    attack(
      'a batch with another root',
      'batch.inclusion',
      batchLine(1, (one) => Object.assign(one, { header: String(one.header).replace(/"root":"./, '"root":"f') })),
    ),
    attack('batches in another order', 'batch.header', {
      batchLines: (lines) => [lines[1], lines[0], ...lines.slice(2)].filter((one) => one !== undefined),
    }),
    attack('batches sealed in another order than they claim', 'batch.header', {
      header: (header) => (header.number === 3 ? { ...header, sealed_at: minute(-10).toISOString() } : header),
    }),
    attack('a batch that knows the future', 'batch.header', {
      header: (header) => (header.number === 1 ? { ...header, after: { size: 4, sha256: 'a'.repeat(64) } } : header),
    }),
    attack('a run that the batch does not hold', 'batch.streams', {
      batchLines: (lines) =>
        lines.map((one, i) =>
          i === 1 ? { ...one, streams: [{ ...(Array.isArray(one.streams) ? one.streams[0] : {}), last: 9 }] } : one,
        ),
    }),
    attack('one run shown several times', 'batch.streams', {
      batchLines: (lines) =>
        lines.map((one, i) =>
          i === 1 ? { ...one, streams: Array(4).fill(Array.isArray(one.streams) ? one.streams[0] : {}) } : one,
        ),
    }),
    attack('a run at another index', 'batch.streams', {
      batchLines: (lines) =>
        lines.map((one, i) =>
          i === 1 ? { ...one, streams: [{ ...(Array.isArray(one.streams) ? one.streams[0] : {}), index: 5 }] } : one,
        ),
    }),
    attack('an entry outside the runs of its batch', 'batch.streams', {
      batchLines: (lines) => lines.map((one, i) => (i === 1 ? { ...one, streams: [] } : one)),
    }),
  ];
}
