import { z } from 'zod';
import { CatalogueError } from '../../catalogue/catalogue-error.js';
import { endSignIns } from '../../sign-in/end-sign-ins.js';
import { listSignIns } from '../../sign-in/list-sign-ins.js';
import type { PanelDeps } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { endSignInOperation, listSignInsOperation } from './operations.js';

const SignInCursor = z.tuple([z.iso.datetime(), z.uuid()]);

export function signInRoutes({ apiPool }: PanelDeps): readonly PanelRoute[] {
  return [
    reads(listSignInsOperation, async ({ user, query }) => {
      const rows = await listSignIns(apiPool, user.id, keyOfCursor(SignInCursor, query), query.limit + 1);
      return pageOfRows(
        query,
        rows,
        ({ startedAt, id }) => [startedAt.toISOString(), id],
        (row) => ({
          id: row.id,
          is_current: row.id === user.signInId,
          started_at: row.startedAt.toISOString(),
          renewed_at: row.renewedAt.toISOString(),
          lapses_at: row.lapsesAt.toISOString(),
          expires_at: row.expiresAt.toISOString(),
        }),
      );
    }),
    changes(endSignInOperation, async ({ user, params }, transaction) => {
      const ended = await endSignIns(transaction, user.id, { only: params.sign_in_id }, 'ended_by_user');
      if (ended === 0) throw new CatalogueError('not_found', 'There is no such sign-in, or it is over.');
      return {
        response: { data: { ended_sign_ins: ended } },
        subject: { kind: 'sign_in', id: params.sign_in_id },
        details: { reason: 'ended_by_user' },
      };
    }),
  ];
}
