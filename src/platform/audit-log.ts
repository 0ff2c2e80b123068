import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../../schemas/json/json-value.js';
import { type Queryable, withTransaction } from './database/pool.js';

/**
 * The author of a change: a user of the panel, an operator on the command line, or the service
 * itself.
 */
export type Actor =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'operator' }
  | { readonly kind: 'service' };

/** The changed object, e.g. `site` and its id. Consents are named only by their event ids. */
export interface AuditSubject {
  readonly kind: string;
  readonly id: string;
}

/** One entry of the audit log. */
interface AuditEntry {
  /** Null if the change concerns the whole installation. */
  readonly tenantId: string | null;
  readonly actor: Actor;
  /** `<subject>.<verb>`, e.g. `site.create`. */
  readonly action: string;
  readonly subject: AuditSubject;
  /**
   * Details that explain the change: names of members, numbers, states. Never a secret or personal
   * data of a data subject.
   */
  readonly details: JsonObject;
}

/**
 * Appends an entry to the audit log in the transaction of its change, so that neither exists
 * without the other.
 * @param db a handle that may INSERT into `audit_log`
 */
export async function appendAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  const { tenantId, actor, action, subject, details } = entry;
  // Opens a transaction if there is none, because row seals are written at its end.
  await withTransaction(db, async (db) => {
    await db.query(
      `insert into audit_log (tenant_id, actor_kind, actor_id, action, subject_kind, subject_id, details)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        tenantId,
        actor.kind,
        actor.kind === 'user' ? actor.userId : null,
        action,
        subject.kind,
        subject.id,
        JSON.stringify(details),
      ],
    );
  });
}

/** Result of an operator's change, and its entry in the audit log. */
export type OperatorChange<T> = Omit<AuditEntry, 'actor'> & { readonly result: T };

/**
 * Makes a change for an operator on the command line and appends its audit log entry in the same
 * transaction.
 * @param db a handle in the role `consent_ledger_admin`; a running transaction is joined
 */
export function changeAsOperator<T>(db: Queryable, change: (db: Queryable) => Promise<OperatorChange<T>>): Promise<T> {
  return withTransaction(db, async (db) => {
    const { result, ...entry } = await change(db);
    await appendAuditEntry(db, { ...entry, actor: { kind: 'operator' } });
    return result;
  });
}

/**
 * Returns the settings that a change altered, each with its values before and after, for the details of an entry.
 * @param names members to compare; none may hold a secret or a value of a data subject
 */
export function beforeAndAfter<Name extends string>(
  before: Readonly<Record<Name, JsonValue>>,
  after: Readonly<Record<Name, JsonValue>>,
  names: readonly Name[],
): JsonObject {
  const altered = names.filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name]));
  return Object.fromEntries(altered.map((name) => [name, { before: before[name], after: after[name] }]));
}
