import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import type { Position } from '../pipeline/event-log/port.js';
import { syncFolder } from '../platform/files.js';
import { FINDING_KINDS, type Finding, type FindingKind, type FoldedFindings, MAX_FINDINGS } from './finding.js';

/** Sections in the order of an audit. */
export const SECTIONS = [
  'schema',
  'rows',
  'keys',
  'log',
  'ledger',
  'stamps',
  'read-models',
  'catalogue',
  'outbox',
  'erasures',
  'exports',
] as const;
export type SectionName = (typeof SECTIONS)[number];

/** The state that an audit reached, from which a later audit continues. */
export interface AuditState {
  readonly done: readonly SectionName[];
  /** Position up to which the section `log` compared every event, or null if it compared none. */
  readonly logPosition: Position | null;
  readonly findings: readonly Finding[];
  readonly folded: readonly FoldedFindings[];
}

export const NOTHING_AUDITED: AuditState = { done: [], logPosition: null, findings: [], folded: [] };

const Kind = z.custom<FindingKind>((value) => typeof value === 'string' && Object.hasOwn(FINDING_KINDS, value));
const State = z.strictObject({
  v: z.literal(1),
  done: z.array(z.enum(SECTIONS)),
  log_position: z.string().nullable(),
  findings: z
    .array(
      z.strictObject({
        kind: Kind,
        table: z.string(),
        key: z.string(),
        columns: z.array(z.string()),
        detail: z.string(),
      }),
    )
    .max(MAX_FINDINGS),
  folded: z
    .array(z.strictObject({ kind: Kind, table: z.string(), count: z.int().positive(), first_key: z.string() }))
    .default([]),
});

/** The file does not contain the state of an audit. */
export class StateUnreadable extends Error {
  override readonly name = 'StateUnreadable';
}

/**
 * Reads how far an interrupted audit came.
 * @returns the beginning if there is no such file
 * @throws StateUnreadable
 */
export async function readState(path: string): Promise<AuditState> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return NOTHING_AUDITED;
  try {
    const { done, log_position: logPosition, findings, folded } = State.parse(JSON.parse(text));
    return {
      done,
      logPosition,
      findings,
      folded: folded.map(({ first_key: firstKey, ...rest }) => ({ ...rest, firstKey })),
    };
  } catch (cause) {
    throw new StateUnreadable(`${path} is not the state of an audit. Remove it to begin anew.`, { cause });
  }
}

/** Writes how far an audit came, whole or not at all. */
export async function writeState(path: string, state: AuditState): Promise<void> {
  const { done, logPosition: log_position, findings } = state;
  const folded = state.folded.map(({ firstKey: first_key, ...rest }) => ({ ...rest, first_key }));
  const draft = `${path}.partial`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ v: 1, done, log_position, findings, folded })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
}
