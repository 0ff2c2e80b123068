import { z } from 'zod';
import type { PanelUser } from '../../../schemas/api/panel/users.js';
import { changeUser } from '../../catalogue/change-user.js';
import { type ListedUser, listUsers, readUser } from '../../catalogue/list-users.js';
import { endSignIns } from '../../sign-in/end-sign-ins.js';
import { createPasswordReset } from '../../sign-in/set-password.js';
import type { PanelDeps } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { changes, type PanelRoute, reads } from '../route.js';
import {
  changeUserOperation,
  createPasswordResetOperation,
  endUserSignInsOperation,
  listUsersOperation,
  readUserOperation,
} from './operations.js';
import { permitChange, permitManaging } from './rules.js';

const UserCursor = z.tuple([z.iso.datetime(), z.uuid()]);

export function userRoutes({ apiPool }: PanelDeps): readonly PanelRoute[] {
  return [
    reads(listUsersOperation, async ({ user, query }) => {
      const rows = await listUsers(apiPool, {
        tenantId: user.tenantId,
        role: query.role,
        isDisabled: query.state === undefined ? undefined : query.state === 'disabled',
        after: keyOfCursor(UserCursor, query),
        limit: query.limit + 1,
      });
      return pageOfRows(query, rows, ({ createdAt, id }) => [createdAt.toISOString(), id], shown);
    }),
    reads(readUserOperation, async ({ user, params }) => ({
      data: shown(await readUser(apiPool, user.tenantId, params.user_id)),
    })),
    changes(changeUserOperation, async ({ user, params, body }, transaction) => {
      const change = { role: body.role, isDisabled: body.is_disabled };
      const { before, after, endedSignIns } = await changeUser(
        transaction,
        user.tenantId,
        params.user_id,
        change,
        (target) => permitChange(user, target, change),
      );
      return {
        response: { data: shown(after) },
        subject: { kind: 'user', id: after.id },
        details: {
          role: { before: before.role, after: after.role },
          is_disabled: { before: before.disabledAt !== null, after: after.disabledAt !== null },
          ended_sign_ins: endedSignIns,
        },
      };
    }),
    changes(createPasswordResetOperation, async ({ user, params }, transaction) => {
      const target = await readUser(transaction, user.tenantId, params.user_id);
      permitManaging(user, target);
      const { token, expiresAt } = await createPasswordReset(transaction, target);
      return {
        response: { data: { user_id: target.id, token, expires_at: expiresAt.toISOString() } },
        subject: { kind: 'user', id: target.id },
      };
    }),
    changes(endUserSignInsOperation, async ({ user, params }, transaction) => {
      const target = await readUser(transaction, user.tenantId, params.user_id);
      permitManaging(user, target);
      const ended = await endSignIns(transaction, target.id, { all: true }, 'ended_by_admin');
      return {
        response: { data: { ended_sign_ins: ended } },
        subject: { kind: 'user', id: target.id },
        details: { ended_sign_ins: ended },
      };
    }),
  ];
}

function shown(user: ListedUser): z.infer<typeof PanelUser> {
  return {
    id: user.id,
    email: user.email,
    role: user.role,
    is_disabled: user.disabledAt !== null,
    created_at: user.createdAt.toISOString(),
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    disabled_at: user.disabledAt?.toISOString() ?? null,
  };
}
