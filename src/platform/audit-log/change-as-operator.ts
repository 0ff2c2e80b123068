import { type Queryable, withTransaction } from '../database/pool.js';
import { appendAuditEntry } from './append-entry.js';
import type { AuditEntry } from './entry.js';

/** Result of an operator's change, and its entry in the audit log. */
export type OperatorChange<T> = Omit<AuditEntry, 'actor'> & { readonly result: T };

/**
 * Makes a change for an operator on the command line and appends its audit log entry in the same
 * transaction.
 * @param db in the role `consent_ledger_admin`; a running transaction is joined
 */
export function changeAsOperator<T>(db: Queryable, change: (db: Queryable) => Promise<OperatorChange<T>>): Promise<T> {
  return withTransaction(db, async (db) => {
    const { result, ...entry } = await change(db);
    await appendAuditEntry(db, { ...entry, actor: { kind: 'operator' } });
    return result;
  });
}
