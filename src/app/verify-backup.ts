import * as z from 'zod';
import { toHex } from '../../schemas/crypto/encoding.js';
import type { AuditParts } from '../audit/section.js';
import { openErasureJournal } from '../erasure/index.js';
import { readLedgerRoot, readLedgerState } from '../pipeline/ledger/ledger-state.js';
import { streamEnds } from '../pipeline/relay/log-check.js';
import type { Config } from '../platform/config/index.js';
import type { Queryable } from '../platform/database/pool.js';
import { ledgerHeadFile } from './ledger-head-file.js';

/** Completeness of a restored backup, beside the findings of an audit. */
export interface BackupState {
  /** Leaves of the restored ledger tree. */
  readonly ledgerSize: number;
  /** Leaves that the ledger had, by `ledger-head.json`; null: there is no such file. */
  readonly headSize: number | null;
  /** Whether the restored ledger is a part of the remembered one; null: there is nothing to compare. */
  readonly isSameLedger: boolean | null;
  /** Streams whose end is missing in the log. */
  readonly streamsBehind: readonly string[];
  /** Records whose keys came back, by the erasure journal: the service destroys them at its next start. */
  readonly keysBroughtBack: number;
}

/**
 * Compares a restored backup with what is kept apart from it: the head of the ledger, and the erasure
 * journal. It writes nothing.
 * @throws JournalUnavailable, EventLogUnavailable, database errors
 */
export async function readBackupState({ db, eventLog }: AuditParts, config: Config): Promise<BackupState> {
  const { size } = await readLedgerState(db);
  const head = await ledgerHeadFile(config).read();
  const streamsBehind: string[] = [];
  for await (const { stream, known, actual } of streamEnds(db, eventLog))
    if (actual < known) streamsBehind.push(stream);
  const isComparable = head !== null && head.size > 0 && size >= head.size;
  return {
    ledgerSize: size,
    headSize: head?.size ?? null,
    isSameLedger: isComparable ? toHex(await readLedgerRoot(db, head.size)) === head.root : null,
    streamsBehind,
    keysBroughtBack: await keysBroughtBack(db, config.erasureJournal),
  };
}

const CountRows = z.tuple([z.object({ count: z.int() })]);

async function keysBroughtBack(db: Queryable, path: string): Promise<number> {
  let found = 0;
  for await (const { line } of openErasureJournal(path).read(0)) {
    if (line?.erased == null) continue;
    const { rows } = await db.query('select count(*)::int as count from record_keys where event_id = any($1::uuid[])', [
      line.erased.event_ids,
    ]);
    found += CountRows.parse(rows)[0].count;
  }
  return found;
}

/** Whether the service could go on with this backup, apart from what it has lost. */
export function isBackupSound({ isSameLedger, streamsBehind }: BackupState): boolean {
  return isSameLedger !== false && streamsBehind.length === 0;
}
