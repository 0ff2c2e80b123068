import { decodeUtf8, toHex } from '../../../schemas/crypto/encoding.js';
import { MAX_ANNOUNCEMENTS, ProvedEntry, type ProvedEntryFile } from '../../../schemas/evidence/contradiction.js';
import { Entry } from '../../../schemas/evidence/entry.js';
import { ConsistencyLine, type EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { earlierInclusion } from '../../../schemas/merkle/verify-consistency.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';
import { type Finding, finding } from '../findings/finding.js';
import {
  type Announcement,
  announcementIn,
  type EnclosedAnnouncements,
  followAnnouncements,
  type KeyChain,
} from '../ledger/announcements.js';
import type { Checkpoints } from '../ledger/checkpoints.js';
import { proofOfEntryIn } from '../ledger/proved-entry.js';
import { readBatchLines } from './batch-lines.js';

/**
 * Reads the announcements of a package. The keys before and after an announcement must have signed the first checkpoint
 * over its batch.
 * @param lines the lines of the announcements in `entries.ndjson`, in order
 */
export async function readAnnouncements(
  files: PackageFiles,
  checkpoints: Checkpoints,
  lines: readonly EntryLine[],
): Promise<EnclosedAnnouncements> {
  const { findings, work } = files;
  const at = { file: PACKAGE_FILES.entries };
  if (lines.length === 0) {
    findings.skip('ledger.announcement', finding('no-key-change'));
    return { announcements: [], problem: null, unproved: [], proofs: [] };
  }
  const proofs = await proveLines(files.unreported(), checkpoints, lines);
  const known = [...checkpoints].map(([size, { note }]) => ({ size, note }));
  const chain = await followAnnouncements(
    proofs.map((proof) => ProvedEntry.parse(proof)),
    work,
    known,
  );
  for (const _ of chain.announcements) findings.pass('ledger.announcement');
  const isTied = findings.outcomeOf('ledger.consistency') === 'pass';
  const rest = chain.problem === null ? lines.slice(proofs.length) : [];
  const { unproved, problem: later } = await followUnproved(rest, checkpoints, chain, files);
  const problem = chain.problem ?? later;
  if (problem !== null) findings.fail('ledger.announcement', problem, at);
  else if (proofs.length < lines.length)
    findings.open('ledger.announcement', finding('announcement-not-proved'), at, isTied ? null : 'ledger.consistency');
  return { ...chain, problem, unproved, proofs: proofs.slice(0, chain.announcements.length) };
}

/** Follows announcements that are not proved to be in the ledger of their checkpoint, up to the first invalid one. */
async function followUnproved(
  lines: readonly EntryLine[],
  checkpoints: Checkpoints,
  { announcements }: KeyChain,
  { work }: PackageFiles,
): Promise<{ readonly unproved: readonly Announcement[]; readonly problem: Finding | null }> {
  const known = [...checkpoints].map(([size, { note }]) => ({ size, note }));
  const unproved: Announcement[] = [];
  for (const line of lines) {
    const [, over] = [...checkpoints].find(([size]) => size > line.batch) ?? [];
    const entry = parseShape(Entry, line.entry);
    const before = [...announcements, ...unproved];
    if (over === undefined || !entry.ok || before.length >= MAX_ANNOUNCEMENTS) break;
    const placed = { entry: entry.value, batch: line.batch, over: { ...over, length: over.bytes.length } };
    const next = await announcementIn(placed, before, known, work);
    if ('code' in next) return { unproved, problem: next };
    unproved.push(next);
  }
  return { unproved, problem: null };
}

/** Proves each announcement under the first checkpoint over it, up to the first one whose proof is incomplete. */
async function proveLines(
  files: PackageFiles,
  checkpoints: Checkpoints,
  lines: readonly EntryLine[],
): Promise<readonly ProvedEntryFile[]> {
  const batches = await readBatchLines(files, new Set(lines.map(({ batch }) => batch)));
  const consistency = new Map<number, ConsistencyLine>();
  for await (const { value } of files.lines(PACKAGE_FILES.consistency, ConsistencyLine, 'ledger.consistency'))
    if (consistency.size < LIMITS.checkpoints) consistency.set(value.from, value);
  const all = [...checkpoints];
  const proofs: ProvedEntryFile[] = [];
  for (const line of lines) {
    const over = all.findIndex(([size]) => size > line.batch);
    const [size, enclosed] = all[over] ?? [];
    const batch = batches.get(line.batch);
    if (size === undefined || enclosed === undefined || batch === undefined) break;
    const note = decodeUtf8(enclosed.bytes) ?? '';
    const proof = await proofOfEntryIn(files, note, batch, line);
    const step = consistency.get(size);
    const tree = { first: size, second: step?.to ?? size, firstRoot: enclosed.checkpoint.root };
    const isNewest = over === all.length - 1;
    const path = isNewest ? batch.path : step && earlierInclusion(line.batch, batch.path, tree, step.path);
    if (proof === null || path == null) break;
    proofs.push({ ...proof, path: path.map(toHex) });
  }
  return proofs;
}
