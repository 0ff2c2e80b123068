import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Count, Instant, Sha256Hex } from '../../../../schemas/evidence/primitives.js';
import { UsageError } from '../../cli/usage-error.js';
import { parseShape } from '../../files/parse.js';
import { englishText } from '../../findings/finding.js';
import { readIfThere, replaceFile } from '../durable-file.js';

const File = z.strictObject({ name: z.string().regex(/^[a-z]+-\d+$/), count: Count });
const Leaf = z.strictObject({ number: Count, runs: Count, tags: Count });

export const AuditState = z.strictObject({
  v: z.literal(1),
  origin: z.string(),
  /** Leaves of the ledger tree that were audited. */
  size: Count,
  /** Roots of the perfect subtrees of a tree of this size, largest first. */
  edge: z.array(Sha256Hex),
  /** Header of the last leaf, or null before the first. */
  last: z.string().nullable(),
  /** The batches since the last roll-up, whose files follow one another in `period`. */
  batches: z.array(Leaf),
  /** The roll-ups of level 1 since the last one of level 2: `rollup-<number>`. */
  roll_ups: z.array(Leaf),
  /** Every stream as of the last roll-up: key, count of events, number of the last leaf with a run. */
  heads: File.nullable(),
  tags: z.array(File),
  /** Number of the next file of tags. */
  next_file: Count,
  /** Leaves up to which the tiles of hashes were compared. Absent if an earlier program compared none. */
  tiles: Count.optional(),
  /** When an audit last reached the newest checkpoint. Absent if none has. */
  reached_at: Instant.optional(),
});
/** State that an auditor stores about a ledger. */
export type AuditState = z.infer<typeof AuditState>;
/** A leaf whose runs and tags are stored. */
export type StoredLeaf = z.infer<typeof Leaf>;

const STATE = 'structure.json';
export const PERIOD_FILE = 'period';
export const rollUpFile = (number: number): string => `rollup-${number}`;

/** The folder of an auditor below that of a monitor or witness. */
export function auditFolder(folder: string): string {
  return join(folder, 'structure');
}

/** @returns null before the first audit @throws UsageError if the file is damaged, or is of another ledger */
export async function readAuditState(folder: string, origin: string): Promise<AuditState | null> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, STATE);
  const bytes = await readIfThere(path);
  if (bytes === null) return null;
  const parsed = parseShape(AuditState, bytes);
  if (!parsed.ok)
    throw new UsageError(`${path} is damaged (${englishText(parsed.reason)}): restore the newest copy of the folder`);
  if (parsed.value.origin !== origin)
    throw new UsageError(`${path} is of the ledger ${parsed.value.origin}: use one folder for each ledger`);
  return parsed.value;
}

/** Stores the state after the files that it names are durable, and removes the others. */
export async function writeAuditState(folder: string, state: AuditState): Promise<void> {
  await replaceFile(join(folder, STATE), `${JSON.stringify(state)}\n`);
  await removeOthers(folder, state);
}

/** Removes files that a crash left behind or that belong to an older state. */
export async function removeOthers(folder: string, { heads, tags, roll_ups: rollUps }: AuditState): Promise<void> {
  const kept = new Set([STATE, PERIOD_FILE, heads?.name, ...tags.map(({ name }) => name)]);
  for (const { number } of rollUps) kept.add(rollUpFile(number));
  for (const name of await readdir(folder)) if (!kept.has(name)) await rm(join(folder, name), { force: true });
}
