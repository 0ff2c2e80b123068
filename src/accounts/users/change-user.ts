import type { JsonObject } from '../../../schemas/json/json-value.js';
import { isUniqueViolation } from '../../platform/database/errors.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { endSignIns, revokeResets } from '../credentials/end-sign-ins.js';
import { type ListedUser, readUser } from './list-users.js';
import type { Role } from './user-directory.js';
import { lockUsersOf, NewUser } from './users.js';

/** The requested changes of a user. */
export interface UserChange {
  readonly role?: Role | undefined;
  readonly isDisabled?: boolean | undefined;
}

export interface ChangedUser {
  readonly before: ListedUser;
  readonly after: ListedUser;
  /** Number of sign-ins that ended because the user was disabled. */
  readonly endedSignIns: number;
}

/**
 * Changes the role or the disabled state of a user. A change revokes open password resets, which
 * were created for the former rights. A lock serialises concurrent changes, so that the tenant
 * always keeps an active owner.
 * @param tenantId tenant of the user, or null for operators, who may choose any tenant
 * @param permit throws if the requester may not change such a user
 * @throws ChangeRefused `not_found`, `wrong_state`; errors of `permit`
 */
export function changeUser(
  db: Queryable,
  tenantId: string | null,
  userId: string,
  change: UserChange,
  permit: (before: ListedUser) => void = () => undefined,
): Promise<ChangedUser> {
  return withTransaction(db, async (db) => {
    const found = await readUser(db, tenantId, userId);
    await lockUsersOf(db, found.tenantId);
    const before = await readUser(db, tenantId, userId);
    permit(before);
    const role = change.role ?? before.role;
    const isDisabled = change.isDisabled ?? before.disabledAt !== null;
    if (role !== 'owner' || isDisabled) await keepAnOwner(db, before);
    if (role === 'api_user' && role !== before.role && before.hasSecondFactor)
      throw new ChangeRefused('wrong_state', 'An API user has no second factor. Remove that of the user first.');
    await db.query(
      'update users set role = $2, disabled_at = case when $3 then coalesce(disabled_at, now()) end where id = $1',
      [userId, role, isDisabled],
    );
    if (role !== before.role || isDisabled !== (before.disabledAt !== null)) await revokeResets(db, userId);
    const endedSignIns = isDisabled ? await endSignIns(db, userId, { all: true }, 'user_disabled') : 0;
    return { before, after: await readUser(db, tenantId, userId), endedSignIns };
  });
}

/** The details of a change for the audit log. */
export function changeDetails({ before, after, endedSignIns }: ChangedUser): JsonObject {
  return {
    role: { before: before.role, after: after.role },
    is_disabled: { before: before.disabledAt !== null, after: after.disabledAt !== null },
    ended_sign_ins: endedSignIns,
  };
}

async function keepAnOwner(db: Queryable, { id, tenantId, role, disabledAt }: ListedUser): Promise<void> {
  if (role !== 'owner' || disabledAt !== null) return;
  const { rowCount } = await db.query(
    `select from users where tenant_id = $1 and id <> $2 and role = 'owner' and disabled_at is null limit 1`,
    [tenantId, id],
  );
  if (rowCount === 0) {
    throw new ChangeRefused('wrong_state', 'This user is the last active owner. Make another user an owner first.');
  }
}

export interface ChangedEmail {
  readonly after: ListedUser;
  readonly endedSignIns: number;
}

/**
 * Changes the sign-in address of a user, and ends the user's sign-ins and password resets. The
 * former address becomes available. It also releases an address from a user who does not own it.
 * Only operators use it, because addresses are unique across tenants.
 * @throws ChangeRefused `not_found`, `invalid`, `already_exists`
 */
export function changeEmail(db: Queryable, userId: string, address: string): Promise<ChangedEmail> {
  const email = accepted(NewUser.shape.email, address, 'email');
  return withTransaction(db, async (db) => {
    await readUser(db, null, userId);
    try {
      await db.query('update users set email = $2 where id = $1', [userId, email]);
    } catch (error) {
      if (isUniqueViolation(error))
        throw new ChangeRefused('already_exists', 'Another user already has this e-mail address.');
      throw error;
    }
    await revokeResets(db, userId);
    const endedSignIns = await endSignIns(db, userId, { all: true }, 'ended_by_operator');
    return { after: await readUser(db, null, userId), endedSignIns };
  });
}
