import { endSignIns } from '../../../accounts/credentials/end-sign-ins.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { signedIn } from '../caller.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { endSignInOperation, listSignInsOperation } from './operations.js';
import { signInList } from './show-sign-ins.js';

/** Users see and end their own sign-ins only. */
export function signInRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(listSignInsOperation, async ({ user: caller, query }) => {
      const user = signedIn(caller);
      const { data, next_cursor } = await signInList(apiPool, user.id, query);
      return { data: data.map((one) => ({ ...one, is_current: one.id === user.signInId })), next_cursor };
    }),
    changes(endSignInOperation, async ({ user, params }, db) => {
      const ended = await endSignIns(db, signedIn(user).id, { only: params.sign_in_id }, 'ended_by_user');
      if (ended === 0) throw new ChangeRefused('not_found', 'There is no such sign-in, or it is over.');
      return {
        response: { data: { ended_sign_ins: ended } },
        subject: { kind: 'sign_in', id: params.sign_in_id },
        details: { reason: 'ended_by_user' },
      };
    }),
  ];
}
