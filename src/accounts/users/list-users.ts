import * as z from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import type { Role, User } from './user-directory.js';

/** A user with the times that lists show. */
export interface ListedUser extends User {
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
  readonly disabledAt: Date | null;
  readonly hasSecondFactor: boolean;
}

/** Selects users. A missing or null member does not restrict them. */
export interface UserFilter {
  readonly tenantId: string | null;
  readonly role?: Role | undefined;
  readonly isDisabled?: boolean | undefined;
  /** `createdAt` and id of the last one on the previous page. */
  readonly after?: readonly [string, string] | null;
  readonly limit: number;
}

const COLUMNS =
  'id, tenant_id, email, role, created_at, last_sign_in_at, disabled_at, (totp_confirmed_at is not null or passkey_ids is not null) as has_second_factor';

/** Truncated to milliseconds, the precision of the cursor. */
const CREATED = "date_trunc('milliseconds', created_at)";

const Rows = z.array(
  z
    .object({
      id: z.string(),
      tenant_id: z.string(),
      email: z.string(),
      role: UserRole,
      created_at: z.date(),
      last_sign_in_at: z.date().nullable(),
      disabled_at: z.date().nullable(),
      has_second_factor: z.boolean(),
    })
    .transform(
      (row): ListedUser => ({
        id: row.id,
        tenantId: row.tenant_id,
        email: row.email,
        role: row.role,
        createdAt: row.created_at,
        lastSignInAt: row.last_sign_in_at,
        disabledAt: row.disabled_at,
        hasSecondFactor: row.has_second_factor,
      }),
    ),
);

/** Lists users, newest first. */
export async function listUsers(db: Queryable, filter: UserFilter): Promise<readonly ListedUser[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from users
      where ($1::uuid is null or tenant_id = $1) and ($2::text is null or role = $2)
        and ($3::boolean is null or (disabled_at is not null) = $3)
        and ($4::timestamptz is null or (${CREATED}, id) < ($4, $5::uuid))
      order by ${CREATED} desc, id desc limit $6`,
    [
      filter.tenantId,
      filter.role ?? null,
      filter.isDisabled ?? null,
      filter.after?.[0] ?? null,
      filter.after?.[1] ?? null,
      filter.limit,
    ],
  );
  return Rows.parse(rows);
}

/**
 * Reads one user.
 * @param tenantId tenant of the user, or null for operators, who may choose any tenant
 * @throws ChangeRefused `not_found`, including for a user of another tenant
 */
export async function readUser(db: Queryable, tenantId: string | null, userId: string): Promise<ListedUser> {
  const { rows } = await db.query(
    `select ${COLUMNS} from users where id = $1 and ($2::uuid is null or tenant_id = $2)`,
    [userId, tenantId],
  );
  const [user] = Rows.parse(rows);
  if (user === undefined) throw new ChangeRefused('not_found', `There is no user ${userId}.`);
  return user;
}
