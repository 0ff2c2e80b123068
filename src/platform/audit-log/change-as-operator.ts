import { type Queryable, withTransaction } from '../database/pool.js';
import { appendAuditEntry } from './append-entry.js';
import type { AuditEntry } from './entry.js';

/** What an operator's change did, and what the audit log says of it. */
export type OperatorChange<T> = Omit<AuditEntry, 'actor'> & { readonly result: T };

/**
 * Makes a change for whoever runs the commands of the installation, with its line of the audit log in the same transaction.
 * @param db in the role `consent_ledger_admin`; a transaction that runs is joined
 */
export function changeAsOperator<T>(db: Queryable, change: (db: Queryable) => Promise<OperatorChange<T>>): Promise<T> {
  return withTransaction(db, async (db) => {
    const { result, ...entry } = await change(db);
    await appendAuditEntry(db, { ...entry, actor: { kind: 'operator' } });
    return result;
  });
}
