import type * as z from 'zod';
import { dataOf, pageOf } from '../../../schemas/api/panel/common.js';
import { SignIn, SignInParams, SignInsQuery } from '../../../schemas/api/panel/sign-ins.js';
import { SignInsEnded } from '../../../schemas/api/panel/users.js';
import { endSignIns } from '../../accounts/credentials/end-sign-ins.js';
import { listSignIns } from '../../accounts/sign-in/list-sign-ins.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { READERS, signedIn } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from './page.js';

const shared = { auth: 'panel', tag: 'Sign-ins' } as const;

/** Users see and end only their own sign-ins. */
export const SIGN_IN_OPERATIONS = [
  route({
    ...shared,
    id: 'listSignIns',
    path: '/api/v1/auth/sign-ins',
    summary: 'List your active sign-ins, newest first',
    roles: READERS,
    query: SignInsQuery,
    response: pageOf(SignIn),
    isForUsers: true,
    handle: async ({ user: caller, query }, { apiPool }) => {
      const user = signedIn(caller);
      const { data, next_cursor } = await signInList(apiPool, user.id, query);
      return { data: data.map((one) => ({ ...one, is_current: one.id === user.signInId })), next_cursor };
    },
  }),
  route({
    ...shared,
    id: 'endSignIn',
    method: 'delete',
    path: '/api/v1/auth/sign-ins/{sign_in_id}',
    summary: 'End one of your sign-ins',
    description: 'Its refresh token is invalid immediately, its access tokens within a second.',
    roles: READERS,
    params: SignInParams,
    response: dataOf(SignInsEnded),
    errors: ['RESOURCE_NOT_FOUND'],
    action: 'sign_in.end',
    isForUsers: true,
    change: async ({ user, params }, db) => {
      const ended = await endSignIns(db, signedIn(user).id, { only: params.sign_in_id }, 'ended_by_user');
      if (ended === 0) throw new ChangeRefused('not_found', 'There is no such sign-in, or it is over.');
      return {
        response: { data: { ended_sign_ins: ended } },
        subject: { kind: 'sign_in', id: params.sign_in_id },
        details: { reason: 'ended_by_user' },
      };
    },
  }),
];

/**
 * Returns a page of a user's active sign-ins, newest first.
 * @throws ApiError VALIDATION_ERROR
 */
export async function signInList(
  db: Queryable,
  userId: string,
  page: PageRequest,
): Promise<Page<Omit<z.infer<typeof SignIn>, 'is_current'>>> {
  const rows = await listSignIns(db, userId, keyOfCursor(TimeAndId, page), page.limit + 1);
  return pageOfRows(
    page,
    rows,
    ({ startedAt, id }) => [startedAt.toISOString(), id],
    (row) => ({
      id: row.id,
      started_at: row.startedAt.toISOString(),
      renewed_at: row.renewedAt.toISOString(),
      lapses_at: row.lapsesAt.toISOString(),
      expires_at: row.expiresAt.toISOString(),
    }),
  );
}
