import { endSignIns } from '../../../accounts/credentials/end-sign-ins.js';
import { noticeTo } from '../../../accounts/mail/mail-job.js';
import { causedBy, tooManyMails } from '../../../accounts/mail/mail-queue.js';
import { removeSecondFactor } from '../../../accounts/second-factor/change-factor.js';
import { createPasswordReset } from '../../../accounts/sign-in/set-password.js';
import { changeDetails, changeUser } from '../../../accounts/users/change-user.js';
import { readUser } from '../../../accounts/users/list-users.js';
import { tokenMail } from '../caller.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import {
  changeUserOperation,
  createPasswordResetOperation,
  endUserSignInsOperation,
  listUsersOperation,
  readUserOperation,
  resetSecondFactorOperation,
} from './operations.js';
import { permitChange, permitManaging, permitRemovingFactor, permitResetting } from './rules.js';
import { shownUser, userList } from './show-users.js';

/**
 * Users of the caller's own tenant. The transaction decides which users a role may change
 * (rules.ts).
 */
export function userRoutes({ apiPool, queueMail }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(listUsersOperation, ({ user, query }) => userList(apiPool, user.tenantId, query)),
    reads(readUserOperation, async ({ user, params }) => ({
      data: shownUser(await readUser(apiPool, user.tenantId, params.user_id)),
    })),
    changes(changeUserOperation, async ({ user, params, body }, db) => {
      const change = { role: body.role, isDisabled: body.is_disabled };
      const changed = await changeUser(db, user.tenantId, params.user_id, change, (target) =>
        permitChange(user, target, change),
      );
      return {
        response: { data: shownUser(changed.after) },
        subject: { kind: 'user', id: changed.after.id },
        details: changeDetails(changed),
      };
    }),
    changes(createPasswordResetOperation, async ({ user, params, mailCause }, db) => {
      const mail = causedBy(tokenMail(user, queueMail), mailCause);
      const target = await readUser(db, user.tenantId, params.user_id);
      permitResetting(user, target);
      const { token, expiresAt } = await createPasswordReset(db, target, user.id);
      const expires_at = expiresAt.toISOString();
      if (mail !== null && !(await mail(db, { kind: 'password_reset', to: target.email, token, expires_at }))) {
        throw tooManyMails();
      }
      return {
        response: { data: { user_id: target.id, token: mail === null ? token : null, expires_at } },
        subject: { kind: 'user', id: target.id },
      };
    }),
    changes(endUserSignInsOperation, async ({ user, params }, db) => {
      const target = await readUser(db, user.tenantId, params.user_id);
      permitManaging(user, target);
      const ended = await endSignIns(db, target.id, { all: true }, 'ended_by_admin');
      return {
        response: { data: { ended_sign_ins: ended } },
        subject: { kind: 'user', id: target.id },
        details: { ended_sign_ins: ended },
      };
    }),
    changes(resetSecondFactorOperation, async ({ user, params, mailCause }, db) => {
      const target = await readUser(db, user.tenantId, params.user_id);
      permitRemovingFactor(user, target);
      const changed = await removeSecondFactor(db, target.id);
      if (changed) await causedBy(queueMail, mailCause)?.(db, noticeTo(target.email, 'second_factor_disabled'));
      return {
        response: { data: shownUser({ ...target, hasSecondFactor: false }) },
        subject: { kind: 'user', id: target.id },
        details: { changed },
      };
    }),
  ];
}
