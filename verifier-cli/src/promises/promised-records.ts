import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { type PromisedRecord, parsePromiseText, type SignedPromise } from '../../../schemas/evidence/promise.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyPromise } from '../../../schemas/evidence/verify-promise.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { Batches } from '../batches/batches.js';
import type { Coverage } from '../completeness/coverage.js';
import type { ReadEntry } from '../entries/read-entry.js';
import { type Finding, finding, type Stated, stated } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { unknownVersion } from '../findings/unknown-version.js';
import type { Policies } from '../policy/policies.js';
import type { PolicyDelays } from '../time/allowed-delays.js';
import type { ProvedTime } from '../time/stamped-times.js';

/** A promise to check against the package. */
export interface GivenPromise {
  /** Name of its file, for the report. */
  readonly file: string;
  readonly promise: SignedPromise;
}

export const PROMISE_OUTCOMES = [
  'kept',
  'late',
  'not-due',
  'overdue',
  'not-covered',
  'broken',
  'not-verified',
] as const;

/** Result of checking one promise against the package. */
export interface ReportedPromise extends Stated {
  readonly file: string;
  readonly outcome: (typeof PROMISE_OUTCOMES)[number];
  readonly event_id: string | null;
  /** SHA-256 of the record's canonical text, in hex. */
  readonly record_sha256: string | null;
  readonly sealed_before: string | null;
  /** The promised time, or the deadline of the policy in force at `created_at` if that is earlier. */
  readonly due: string | null;
  /** Whether an entry has another record under the promised event id, which alone proves the breach. */
  readonly contradicted: boolean;
}

/** How much the clocks of a service may differ, in milliseconds (docs/evidence-format.md §9). */
const TOLERANCE_MS = 300_000;

/** The entries of a package that have a promised event id. */
export class PromisedRecords {
  readonly #wanted: ReadonlySet<string>;
  readonly #found = new Map<string, ReadEntry>();

  constructor(readonly given: readonly GivenPromise[]) {
    this.#wanted = new Set(given.flatMap(({ promise }) => parsePromiseText(promise.text)?.eventId ?? []));
  }

  /** Takes an entry. A second one with the same id makes the package invalid (`entry.order`). */
  accept(read: ReadEntry): void {
    const { event_id: eventId } = read.entry;
    if (this.#wanted.has(eventId) && !this.#found.has(eventId)) this.#found.set(eventId, read);
  }

  entryOf(eventId: string): ReadEntry | null {
    return this.#found.get(eventId) ?? null;
  }
}

/** Keys and parts of the package with which promises are compared. */
export interface PromiseContext {
  /** Keys of the ledger that the relying party trusts, and their successors. */
  readonly keys: readonly VerifierKey[];
  readonly origin: string | null;
  readonly coverage: Coverage | null;
  readonly batches: Batches;
  /** Size of the package's checkpoint, or null if it has none. */
  readonly size: number | null;
  /** The valid stamp over this checkpoint. */
  readonly asOf: ProvedTime | null;
  /** Delays that the policies alone allow. */
  readonly delays: PolicyDelays;
  readonly policies: Policies;
  /** Time of verification. */
  readonly at: Date;
  readonly findings: Findings;
}

/** Evaluates every promise (docs/evidence-format.md §15). Call it after all other checks. */
export async function evaluatePromises(
  records: PromisedRecords,
  context: PromiseContext,
): Promise<readonly ReportedPromise[]> {
  const { findings } = context;
  const isInvalid = findings.verdict() === 'invalid';
  const reported: ReportedPromise[] = [];
  for (const { file, promise } of records.given) {
    const verdict = await verifyPromise(promise, context.keys);
    const promised = verdict.outcome === 'genuine' ? verdict.promised : null;
    const found: Found =
      promised === null
        ? {
            outcome: 'not-verified',
            message: finding('promise-not-verified', { reason: 'reason' in verdict ? verdict.reason : 'unknown' }),
          }
        : isInvalid
          ? { outcome: 'not-covered', message: finding('package-shows-nothing') }
          : evaluate(promised, records.entryOf(promised.eventId), context);
    const due = promised === null ? null : dueTime(promised, context);
    const message = found.message;
    const at = { file, event_id: promised?.eventId };
    if (found.outcome === 'kept') findings.pass('promise.kept');
    else if (found.outcome === 'broken') findings.fail('promise.kept', message, at);
    else if (found.outcome === 'not-due') findings.skip('promise.kept', message);
    else findings.open('promise.kept', message, at);
    reported.push({
      file,
      outcome: found.outcome,
      ...stated(message),
      event_id: promised?.eventId ?? null,
      record_sha256: promised === null ? null : toHex(promised.recordDigest),
      sealed_before: promised?.sealedBefore ?? null,
      due: due === null ? null : new Date(due).toISOString(),
      contradicted: found.contradicted === true,
    });
  }
  if (records.given.length === 0) findings.skip('promise.kept', finding('no-promise-given'));
  return reported;
}

interface Found {
  readonly outcome: ReportedPromise['outcome'];
  readonly message: Finding;
  readonly contradicted?: boolean;
}

function evaluate(promised: PromisedRecord, read: ReadEntry | null, context: PromiseContext): Found {
  const { origin, batches, findings } = context;
  if (promised.origin !== origin)
    return { outcome: 'not-covered', message: finding('promise-of-other-ledger', { ledger: promised.origin }) };
  const isFollowed = findings.outcomeOf('ledger.announcement') !== 'indeterminate';
  if (findings.outcomeOf('ledger.key') !== 'pass' || !isFollowed)
    return { outcome: 'not-covered', message: finding('ledger-not-proved') };
  if (read === null) return evaluateAbsence(promised, context);
  if (batches.unknown.has(read.source.batch))
    return { outcome: 'not-covered', message: unknownVersion(finding('batch-version', { batch: read.source.batch })) };
  const digest = sha256(utf8(canonicalJson(read.record)));
  if (!equalBytes(digest, promised.recordDigest) || read.entry.stream !== promised.stream) {
    return {
      outcome: 'broken',
      message: finding('promised-record-replaced', { event: promised.eventId }),
      contradicted: true,
    };
  }
  const sealedAt = batches.get(read.source.batch)?.header.sealed_at ?? '';
  const due = dueTime(promised, context);
  const isLate = Date.parse(sealedAt) > due + TOLERANCE_MS;
  return isLate
    ? {
        outcome: 'late',
        message: finding('promised-record-late', { sealed: sealedAt, promised: new Date(due).toISOString() }),
      }
    : { outcome: 'kept', message: finding('promise-kept') };
}

function evaluateAbsence(promised: PromisedRecord, context: PromiseContext): Found {
  const { coverage, batches, size, asOf, delays, at } = context;
  const consents = coverage?.consents ?? null;
  if (consents === null || consents.stream !== promised.stream)
    return { outcome: 'not-covered', message: finding('package-of-other-site') };
  if (size === null || asOf === null) return { outcome: 'not-covered', message: finding('absence-not-stamped') };
  const { ledger_reaches: reaches, complete_up_to: upTo } = consents;
  if (reaches === null || (upTo ?? -1) !== reaches) {
    return {
      outcome: 'not-covered',
      message: finding('not-all-consents-shown'),
    };
  }
  const sealedBefore = dueTime(promised, context);
  const stamped = asOf.time - asOf.accuracy;
  // A time stamp can be later than its checkpoint. The record must be covered by the checkpoint if, by its own
  // statement, the newest batch was sealed after the promised time, or if the stamp is later than that by more than the
  // policy of the promise allows. In between, a stamp neither excuses nor incriminates.
  const newestSealed = Date.parse(batches.get(size - 1)?.header.sealed_at ?? '');
  const isAfter = stamped > sealedBefore && newestSealed > sealedBefore + TOLERANCE_MS;
  const { sealMs, stampMs } = delays.of(size - 1, Date.parse(promised.createdAt));
  const allowed = stampMs - sealMs + TOLERANCE_MS;
  const due = new Date(sealedBefore).toISOString();
  if (!isAfter && stamped <= sealedBefore + allowed)
    return at.getTime() > sealedBefore + TOLERANCE_MS
      ? { outcome: 'overdue', message: finding('promise-overdue', { promised: due }) }
      : { outcome: 'not-due', message: finding('promise-not-due', { promised: due }) };
  return {
    outcome: 'broken',
    message: finding('promised-record-missing', { time: new Date(asOf.time).toISOString(), event: promised.eventId }),
  };
}

/**
 * Returns the deadline for sealing the record, in milliseconds since 1970: the promised time, or `created_at` plus the
 * delay of the policy if that is earlier. The policy is the newest one that provably existed at `created_at`. A policy
 * that the ledger had announced by then also counts if it was sealed in time, because the service promises by it before
 * it is stamped. Promising a longer time therefore has no effect.
 */
function dueTime(promised: PromisedRecord, { delays, policies, batches, size }: PromiseContext): number {
  const createdAt = Date.parse(promised.createdAt);
  const { sealMs } = delays.of((size ?? 1) - 1, createdAt);
  const announced = policies.placed.filter((placed) => {
    const sealedAt = Date.parse(batches.get(placed.batch)?.header.sealed_at ?? '');
    return placed.createdAt <= createdAt + TOLERANCE_MS && sealedAt <= createdAt + sealMs + TOLERANCE_MS;
  });
  // Because clocks differ, each policy that may have been the newest one at that time counts.
  const older = announced.filter((placed) => placed.createdAt < createdAt - TOLERANCE_MS).slice(0, -1);
  const longest = Math.max(
    sealMs,
    ...announced.filter((placed) => !older.includes(placed)).map(({ policy }) => policy.sealWithinMs),
  );
  return Math.min(Date.parse(promised.sealedBefore), createdAt + longest);
}
