import { isUniqueViolation } from '../../platform/database/errors.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { endSignIns } from '../credentials/end-sign-ins.js';
import { revokeResets } from '../credentials/revoke-resets.js';
import { type ListedUser, readUser } from './list-users.js';
import { NewUser } from './users.js';

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
