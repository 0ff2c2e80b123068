import type { Queryable } from '../platform/database/pool.js';
import { withTransaction } from '../platform/database/pool.js';
import { cancelForErasure } from '../platform/export-states.js';
import type { Keyring } from '../platform/keys/index.js';
import { destroyPersonalData, lockSite, markErased } from './destroy.js';
import { type ErasureJournal, JournalUnavailable, UnknownSite } from './journal.js';
import { type ErasureReceipt, erasureReceipt } from './read-erasures.js';
import { type ErasureRequest, type ErasureSubject, openErasureRequests, orderErasure, reasonOf } from './requests.js';
import { nextApprovalTokens, nextRecords } from './select-subjects.js';
import { eraseTestRecords } from './test-erasures.js';

export interface ErasureOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly keyring: Pick<Keyring, 'siteKey' | 'openKeyRows' | 'open'>;
  readonly journal: ErasureJournal;
}

/** An erasure to carry out immediately. */
export interface ErasureTask {
  readonly siteId: string;
  readonly by: ErasureSubject;
  /** The requester, for the audit log; the default is the service. */
  readonly asker?: 'operator' | 'service';
  readonly idempotencyKey?: string;
}

/**
 * Erases the records of a person, one record, or all records older than a time (docs/erasure.md). It destroys their
 * keys, so that their personal part is permanently unreadable. `announceErasures` later announces each record in the
 * log, without personal data. Each transaction erases at most 1,000 records, and `resumeErasures` finishes an
 * interrupted erasure. An unknown subject is not an error: nothing is erased or logged.
 * @throws UnknownSite, JournalUnavailable, KeyError, database errors; what was committed before remains erased
 */
export async function eraseSubject(
  options: ErasureOptions,
  { asker = 'service', ...task }: ErasureTask,
): Promise<ErasureReceipt> {
  const { request } = await orderErasure(options.db, options.keyring, { ...task, channel: asker }, { kind: asker });
  return carryOut(options, request);
}

export interface ResumeOptions {
  /** Ends the work before the next erasure. */
  readonly signal?: AbortSignal;
  /** Called for an erasure that failed, while the others continue. If absent, the first failure is thrown. */
  readonly onFailed?: (request: ErasureRequest, error: unknown) => void;
}

/**
 * Carries out all unfinished erasures, oldest first.
 * @returns their receipts
 * @throws JournalUnavailable, because no erasure can proceed without the journal
 */
export async function resumeErasures(
  parts: ErasureOptions,
  { signal, onFailed }: ResumeOptions = {},
): Promise<ErasureReceipt[]> {
  const receipts: ErasureReceipt[] = [];
  for (const request of await openErasureRequests(parts.db, parts.keyring)) {
    if (signal?.aborted) break;
    try {
      receipts.push(await carryOut(parts, request));
    } catch (error) {
      if (onFailed === undefined || error instanceof JournalUnavailable) throw error;
      onFailed(request, error);
    }
  }
  return receipts;
}

async function carryOut(parts: ErasureOptions, request: ErasureRequest): Promise<ErasureReceipt> {
  // Read before the transactions, which must not wait for a second connection.
  await parts.keyring.siteKey(request.siteId);
  let progress: Progress = { isLast: false, after: null };
  while (!progress.isLast) progress = await erasePage(parts, request, progress.after);
  // A separate transaction after the last commit, because the receipt must not state a time before the destruction of a
  // key.
  await withTransaction(parts.db, (db) =>
    db.query('update erasure_requests set finished_at = clock_timestamp(), blind_index = null where id = $1', [
      request.id,
    ]),
  );
  const receipt = await erasureReceipt(parts.db, request.id);
  if (receipt === null) throw new Error(`the erasure ${request.id} is finished, but its receipt is missing`);
  return receipt;
}

const NO_EXPORTS = { stopped: 0, destroyed: 0 } as const;

interface Progress {
  readonly isLast: boolean;
  readonly after: string | null;
}

/**
 * Erases one page in one transaction: destroys the keys, notes the records to be announced, and
 * records the counts.
 */
function erasePage(
  { db, keyring, journal }: ErasureOptions,
  request: ErasureRequest,
  after: string | null,
): Promise<Progress> {
  return withTransaction(db, async (db) => {
    await db.query('set local synchronous_commit = on');
    if (!(await lockSite(db, request.siteId))) throw new UnknownSite(request.siteId);
    const page = await nextRecords(db, keyring, request, after);
    const tokens = await nextApprovalTokens(db, request, page);
    const isLast = page.next === null && !tokens.mayBeMore;
    const hasRecords = page.eventIds.length > 0;
    const reason = reasonOf(request.target);
    // The journal is written before the commit. Otherwise a restore from a backup could bring erased data back.
    const isAnythingFound = hasRecords || tokens.ids.length > 0;
    if (isAnythingFound) {
      const erased = hasRecords ? { site_id: request.siteId, reason, event_ids: [...page.eventIds] } : null;
      await journal.append({ v: 1, erased, approval_tokens: [...tokens.ids] });
    }
    const deletedTokens = await destroyPersonalData(db, page.eventIds, tokens.ids);
    const exports = isAnythingFound ? await cancelForErasure(db, request.siteId) : NO_EXPORTS;
    await markErased(db, { siteId: request.siteId, reason, requestId: request.id, eventIds: page.eventIds });
    await db.query(
      `update erasure_requests
          set erased_count = erased_count + $2, deleted_token_count = deleted_token_count + $3,
              cancelled_export_count = cancelled_export_count + $4, destroyed_package_count = destroyed_package_count + $5
        where id = $1`,
      [request.id, page.eventIds.length, deletedTokens, exports.stopped, exports.destroyed],
    );
    if (isLast) await eraseTestRecords(db, journal, request.siteId, request.target);
    return { isLast, after: page.next ?? after };
  });
}
