import type { Checkpoint } from '../../../../schemas/evidence/checkpoint.js';
import type { ContradictionFile, ProvedEntryFile } from '../../../../schemas/evidence/contradiction.js';
import type { VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { Unreachable } from '../bounded-fetch.js';
import { auditStructure } from './audit.js';
import { readAuditState } from './audit-state.js';
import { Violation } from './claim.js';
import { proveViolation } from './prove.js';
import type { StructureSource } from './source.js';
import { TiledLog } from './tiled-log.js';

/** Result of an audit of the structure up to a checkpoint. */
export type AuditOutcome =
  | { readonly outcome: 'sound' }
  | {
      /** `violation` if a rule is broken or a part is withheld, but there is no proof. */
      readonly outcome: 'contradiction' | 'violation' | 'undecided';
      /** Readable text. */
      readonly statement: string;
      readonly contradiction: ContradictionFile | null;
    };

export interface AuditNewestOptions {
  readonly source: StructureSource;
  readonly folder: string;
  /** A checkpoint that a trusted key signed, and its exact note. */
  readonly checkpoint: Checkpoint;
  readonly note: string;
  readonly announcements: readonly ProvedEntryFile[];
  readonly keys: readonly VerifierKey[];
  readonly progress?: (audited: number) => void;
  readonly advanced?: () => void;
  readonly signal?: AbortSignal;
  readonly commitMs?: number;
}

/** Audits the structure up to a checkpoint, and proves what is wrong. A published file never makes it throw. */
export async function auditNewest({
  source,
  folder,
  checkpoint,
  note,
  announcements,
  keys,
  ...rest
}: AuditNewestOptions): Promise<AuditOutcome> {
  const log = new TiledLog(source, checkpoint.size);
  try {
    await auditStructure({ folder, log, checkpoint, ...rest });
    return { outcome: 'sound' };
  } catch (error) {
    if (error instanceof Unreachable) {
      const state = await readAuditState(folder, checkpoint.origin);
      const since = state?.reached_at === undefined ? 'never' : `last at ${state.reached_at}`;
      const audited = `audited up to ${state?.size ?? 0} of ${checkpoint.size} leaves, to the newest checkpoint ${since}`;
      return { outcome: 'undecided', statement: `${error.message}; ${audited}`, contradiction: null };
    }
    if (!(error instanceof Violation)) throw error;
    return violated(error, { log, note, announcements, keys }, checkpoint.origin);
  }
}

async function violated(
  violation: Violation,
  options: Parameters<typeof proveViolation>[1],
  origin: string,
): Promise<AuditOutcome> {
  const { claim, message } = violation;
  const contradiction = await proveViolation(violation, options).catch((error: unknown) => {
    if (error instanceof Unreachable) return null;
    throw error;
  });
  if (contradiction !== null) return { outcome: 'contradiction', statement: `${origin} ${message}`, contradiction };
  const statement =
    claim === null
      ? `${message}; no proof is possible, because the operator withholds what its roots state`
      : `${origin} ${message}; the published files do not lead to a proof`;
  return { outcome: 'violation', statement, contradiction: null };
}
