import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import {
  BatchHeader,
  batchHeaderText,
  batchLeaf,
  type RunPlace,
  runLeaf,
} from '../../../schemas/evidence/batch-header.js';
import type { ContradictionFile } from '../../../schemas/evidence/contradiction.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import type { BatchLine, ShownRun } from '../../../schemas/evidence/package-lines.js';
import { fewerShown, rootOfShown } from '../../../schemas/merkle/shown-leaves.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { parseShape } from '../files/parse.js';
import { WORK } from '../work/work-meter.js';
import { claimsProblem, saltsProblem } from './claims-problem.js';
import { headersProblem } from './headers-problem.js';
import type { History } from './history.js';
import { contradictoryRuns, isPossible } from './runs-problem.js';

type RunsFile = Extract<ContradictionFile, { kind: 'runs' }>;
type SaltsFile = Extract<ContradictionFile, { kind: 'salts' }>;
type HeadersFile = Extract<ContradictionFile, { kind: 'headers' }>;
type ClaimsFile = Extract<ContradictionFile, { kind: 'claims' }>;
type WithoutFrame<T> = T extends unknown ? Omit<T, 'format' | 'version' | 'announcements'> : never;
type StructureProof = WithoutFrame<RunsFile | HeadersFile | ClaimsFile | SaltsFile>;

/** A leaf of the ledger tree that one side proves. */
interface ProvedLeaf {
  readonly side: History;
  readonly line: BatchLine;
  readonly header: BatchHeader;
  readonly runs: readonly ProvedRun[];
}

interface ProvedRun extends RunPlace {
  /** Key of the stream, in hex. */
  readonly key: string;
  readonly number: number;
  readonly leaf: ProvedLeaf;
  readonly index: number;
}

/**
 * Looks for contradictory statements about the structure of the ledger, in one file or in both: headers, runs, and
 * manifests that state a stream as complete. The caller must pass each to `verifyContradiction`.
 */
export function* structureConflicts(a: History, b: History): Generator<StructureProof, void> {
  const leaves = [...provedLeaves(a), ...provedLeaves(b)].sort((x, y) => x.header.number - y.header.number);
  yield* contradictoryHeaders(leaves);
  const byKey = new Map<string, ProvedRun[]>();
  for (const run of leaves.flatMap(({ runs }) => runs)) {
    const known = byKey.get(run.key);
    if (known === undefined) byKey.set(run.key, [run]);
    else known.push(run);
  }
  for (const runs of byKey.values()) {
    const pair = contradictoryRuns(runs);
    if (pair !== null) yield { kind: 'runs', first: runFile(pair[0]), second: runFile(pair[1]) };
  }
  if (isSigned(a) && isSigned(b) && saltsProblem(a.manifest, b.manifest) !== null)
    yield { kind: 'salts', first: a.signedManifest, second: b.signedManifest };
  for (const side of [a, b]) {
    if (!isSigned(side)) continue;
    const { manifest, signedManifest } = side;
    const beyond = [...byKey.values()].flat().find((run) => claimsProblem(manifest, run) !== null);
    if (beyond !== undefined) yield { kind: 'claims', ...signedManifest, second: runFile(beyond) };
  }
}

type SignedHistory = History & {
  readonly manifest: Manifest;
  readonly signedManifest: NonNullable<History['signedManifest']>;
};

function isSigned(side: History): side is SignedHistory {
  return side.manifest !== null && side.signedManifest !== null && side.isManifestSigned;
}

/** Number of leaves before a roll-up that are compared with it: those of both sides under a roll-up of level 1. */
const MOST_UNDER = 256;

/** @param leaves the leaves by number */
function* contradictoryHeaders(leaves: readonly ProvedLeaf[]): Generator<StructureProof, void> {
  for (const [i, leaf] of leaves.entries()) {
    // Comparing neighbours finds every decrease along the ledger. A roll-up is also compared with the batches under it.
    const earlier = leaves.slice(Math.max(0, i - (leaf.header.level === 0 ? 1 : MOST_UNDER)), i);
    const other = earlier.find(({ header }) => headersProblem(header, leaf.header) !== null);
    if (other !== undefined) yield { kind: 'headers', first: headerFile(other), second: headerFile(leaf) };
  }
}

/** The leaves that a side proves to be in the ledger of its newest checkpoint, with the runs that they show. */
function* provedLeaves(side: History): Generator<ProvedLeaf, void> {
  const { newest, batches, files } = side;
  if (!newest.isTrusted) return;
  for (const line of batches.values()) {
    if (files?.work.take(WORK.hash * (line.path.length + line.hashes.length)) !== true) return;
    const parsed = parseShape(BatchHeader, line.header);
    if (!parsed.ok || batchHeaderText(parsed.value) !== line.header) continue;
    const header = parsed.value;
    if (!verifyInclusion(header.number, newest.size, batchLeaf(line.header), line.path, newest.root).ok) continue;
    const leaf = { side, line, header, runs: [] as ProvedRun[] };
    const root = rootOfShown(header.streams_count, line.streams.map(leafOf), line.hashes);
    if (root !== null && equalBytes(root, bytesOf(header.streams_root)))
      for (const { key, ...shown } of line.streams)
        if (isPossible(shown, header)) leaf.runs.push({ ...shown, key: toHex(key), number: header.number, leaf });
    yield leaf;
  }
}

function leafOf({ index, key, ...run }: ShownRun): { readonly index: number; readonly hash: Uint8Array } {
  return { index, hash: runLeaf(key, run) };
}

function headerFile({ side, line }: ProvedLeaf): HeadersFile['first'] {
  return { note: side.newest.note, header: line.header, path: line.path.map(toHex) };
}

function runFile({ leaf, index, key, start, first, last }: ProvedRun): RunsFile['first'] {
  const { line, header } = leaf;
  const hashes = fewerShown(header.streams_count, line.streams.map(leafOf), line.hashes, new Set([index])) ?? [];
  return { ...headerFile(leaf), index, run: { key, start, first, last }, hashes: hashes.map(toHex) };
}

function bytesOf(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}
