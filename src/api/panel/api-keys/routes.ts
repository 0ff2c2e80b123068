import { createApiKey, renameApiKey, revokeApiKey, rotateApiKey } from '../../../tenancy/api-keys/api-keys.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { apiKeyList, apiKeyOf } from './show-api-keys.js';
import { conflictList } from './show-conflicts.js';

/**
 * Keys of one site. A key itself is in the answer that makes it, and never again: only its digest
 * is kept.
 */
export function apiKeyRoutes({ apiPool, keyring }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listApiKeys, ({ params, query }) => apiKeyList(apiPool, params.site_id, query)),
    changes(operations.createApiKey, async ({ params, body }, db) => {
      const { id, key } = await createApiKey(db, params.site_id, body.scope, body);
      return {
        response: { data: { ...(await apiKeyOf(db, params.site_id, id)), key } },
        subject: { kind: 'api_key', id },
        details: { site_id: params.site_id, scope: body.scope, restriction: body.restriction, mode: body.mode },
      };
    }),
    reads(operations.readApiKey, async ({ params }) => ({
      data: await apiKeyOf(apiPool, params.site_id, params.key_id),
    })),
    changes(operations.changeApiKey, async ({ params, body }, db) => {
      await renameApiKey(db, params.site_id, params.key_id, body.name);
      return {
        response: { data: await apiKeyOf(db, params.site_id, params.key_id) },
        subject: { kind: 'api_key', id: params.key_id },
        details: { site_id: params.site_id },
      };
    }),
    changes(operations.rotateApiKey, async ({ params, body }, db) => {
      const { id, key } = await rotateApiKey(db, keyring, params.site_id, params.key_id, body.grace_seconds);
      return {
        response: { data: { ...(await apiKeyOf(db, params.site_id, id)), key } },
        subject: { kind: 'api_key', id: params.key_id },
        details: { site_id: params.site_id, replaced_by: id, grace_seconds: body.grace_seconds },
      };
    }),
    changes(operations.revokeApiKey, async ({ params }, db) => {
      await revokeApiKey(db, params.site_id, params.key_id);
      return {
        response: { data: await apiKeyOf(db, params.site_id, params.key_id) },
        subject: { kind: 'api_key', id: params.key_id },
        details: { site_id: params.site_id },
      };
    }),
    reads(operations.listIdempotencyConflicts, ({ params, query }) => conflictList(apiPool, params.site_id, query)),
  ];
}
