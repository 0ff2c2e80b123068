import { setTimeout as delay } from 'node:timers/promises';
import type { VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { printable } from '../../rendering/printable.js';
import { Unreachable } from '../bounded-fetch.js';
import { type AuditOutcome, auditNewest } from '../structure/audit-newest.js';
import { auditFolder } from '../structure/audit-state.js';
import { LookLimit } from '../structure/look-limit.js';
import type { StructureSource } from '../structure/source.js';
import { tiledService } from '../structure/tiled-service.js';
import { learnKeys } from '../watch/read-announcements.js';
import { writeContradiction } from '../watch/watch-state.js';
import type { Submission } from './decide.js';

/** Milliseconds that a ledger waits for the audit of its checkpoint before it is told to retry. */
const PATIENCE_MS = 5_000;

/**
 * Time after which an audit ends and continues with the next checkpoint, in milliseconds. The first audit only ends if
 * it makes no progress for this long.
 */
const AUDIT_LIMIT_MS = 3_600_000;

/** The audit of the structure that a witness recomputes. */
export interface StructureAudit {
  /** Audits up to a submitted checkpoint. @returns null if it is sound; otherwise the answer */
  check(submission: Submission): Promise<{ readonly status: 422 | 503; readonly reason: string } | null>;
  /** The given keys of the ledger, and those that they vouch for by published announcements. */
  keysAfter(given: readonly VerifierKey[]): Promise<readonly VerifierKey[]>;
}

export interface StructureAuditOptions {
  readonly source: StructureSource;
  /** Folder of the witness. */
  readonly folder: string;
  readonly ledgerKeys: readonly VerifierKey[];
  readonly log: (line: string) => void;
  /** Ends a running audit. */
  readonly signal?: AbortSignal;
  readonly patienceMs?: number;
}

/**
 * Creates the audit of a witness. A long audit continues after the response, so that a ledger that asks again finds it
 * done.
 */
export function createStructureAudit({
  source,
  folder,
  ledgerKeys,
  log,
  signal,
  patienceMs = PATIENCE_MS,
}: StructureAuditOptions): StructureAudit {
  let running: Promise<AuditOutcome> | null = null;
  const start = async (submission: Submission): Promise<AuditOutcome> => {
    const limit = new LookLimit(signal, AUDIT_LIMIT_MS);
    return audited(submission, limit).finally(() => limit.end());
  };
  const audited = async ({ note, checkpoint }: Submission, limit: LookLimit): Promise<AuditOutcome> => {
    const until = source.until(limit.signal);
    const { announcements } = await learnKeys(tiledService(until), ledgerKeys, [], new Date());
    const rest = { source: until, folder: auditFolder(folder), checkpoint, announcements, keys: ledgerKeys };
    const progress = (audited: number): void => log(`audited ${audited} of ${checkpoint.size} leaves`);
    const audit = await auditNewest({ ...rest, note, progress, advanced: limit.advance, signal: limit.signal });
    if (audit.outcome !== 'sound' && audit.contradiction !== null)
      log(`the proof is in ${printable(await writeContradiction(folder, audit.contradiction))}`);
    return audit;
  };
  const check: StructureAudit['check'] = async (submission) => {
    const busy = { status: 503, reason: 'the structure is being audited: ask again' } as const;
    // The result for another checkpoint says nothing about this one.
    if (running !== null && (await within(running, patienceMs)) === null) return busy;
    running = start(submission).catch(
      (error: unknown): AuditOutcome => ({
        outcome: 'undecided',
        statement: error instanceof Unreachable ? error.message : failureOf(error, log),
        contradiction: null,
      }),
    );
    const audit = await within(running, patienceMs);
    if (audit === null) return busy;
    running = null;
    if (audit.outcome === 'sound') return null;
    return { status: audit.outcome === 'undecided' ? 503 : 422, reason: audit.statement };
  };
  return {
    check,
    async keysAfter(given) {
      try {
        return (await learnKeys(tiledService(source), given, [], new Date())).keys;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        log(`the announcements of keys were not read: ${printable(error.message)}`);
        return given;
      }
    },
  };
}

function failureOf(error: unknown, log: (line: string) => void): string {
  log(`the audit failed: ${error instanceof Error ? error.message : 'unknown error'}`);
  return 'the witness cannot audit the structure';
}

async function within<T>(work: Promise<T>, ms: number): Promise<T | null> {
  const stopping = new AbortController();
  try {
    return await Promise.race([work, delay(ms, null, { signal: stopping.signal })]);
  } finally {
    stopping.abort();
  }
}
