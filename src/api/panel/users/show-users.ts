import type * as z from 'zod';
import type { PanelUser, UsersQuery } from '../../../../schemas/api/panel/users.js';
import { type ListedUser, listUsers } from '../../../accounts/users/list-users.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { keyOfCursor, type Page, pageOfRows, TimeAndId } from '../page.js';

/**
 * A page of users, newest first.
 * @param tenantId null: of every tenant, for operators
 * @throws ApiError VALIDATION_ERROR
 */
export async function userList(
  db: Queryable,
  tenantId: string | null,
  query: z.output<typeof UsersQuery>,
): Promise<Page<z.infer<typeof PanelUser>>> {
  const rows = await listUsers(db, {
    tenantId,
    role: query.role,
    isDisabled: query.state === undefined ? undefined : query.state === 'disabled',
    after: keyOfCursor(TimeAndId, query),
    limit: query.limit + 1,
  });
  return pageOfRows(query, rows, ({ createdAt, id }) => [createdAt.toISOString(), id], shownUser);
}

/** A user as panel and command line show one: times in ISO 8601, nothing of the password. */
export function shownUser(user: ListedUser): z.infer<typeof PanelUser> {
  return {
    id: user.id,
    email: user.email,
    role: user.role,
    is_disabled: user.disabledAt !== null,
    has_second_factor: user.hasSecondFactor,
    created_at: user.createdAt.toISOString(),
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    disabled_at: user.disabledAt?.toISOString() ?? null,
  };
}
