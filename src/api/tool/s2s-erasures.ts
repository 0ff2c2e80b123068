import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { ErasureParams, type ErasureReceiptResponse, S2sErasureRequest } from '../../../schemas/api/erasures.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { type ErasureOrder, orderErasure, readErasure, shownReceipt, subjectOf } from '../../erasure/index.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { Keyring } from '../../platform/keys/index.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf, userOf } from '../server/caller.js';
import { parseJsonBody, validate } from '../server/json-body.js';
import { signed, signedRequest } from './post-deps.js';

export interface S2sErasureDeps {
  readonly admission: Admission;
  readonly guards: Pick<ToolGuards, 'write' | 's2s' | 's2sRead' | 'authorize'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Connections in the role `consent_ledger_api`. */
  readonly pool: pg.Pool;
  readonly keyring: Pick<Keyring, 'siteKey'>;
  /** Null: not known. */
  readonly backupRetentionDays: number | null;
}

const BODY_BYTES = 4_096;

/** POST /tool/v1/s2s/erasures: asks for an erasure; GET /tool/v1/s2s/erasures/{id}: its receipt. */
export function s2sErasures(tool: FastifyInstance, deps: S2sErasureDeps): void {
  const { guards, pool, keyring, backupRetentionDays } = deps;
  const receipt = async (siteId: string, id: string): Promise<ErasureReceiptResponse> => {
    const erasure = await readErasure(pool, siteId, id);
    if (erasure === null) throw new ApiError('RESOURCE_NOT_FOUND');
    return { data: await shownReceipt(pool, erasure, backupRetentionDays) };
  };
  tool.post(
    '/s2s/erasures',
    { onRequest: signed(guards.s2s, deps.clock), bodyLimit: BODY_BYTES },
    async (request, reply) => {
      await deps.admission.useNonce(signedRequest(request, deps));
      const body = validate(S2sErasureRequest, parseJsonBody(request.rawBody));
      const caller = callerOf(request);
      const { site } = caller;
      const order: ErasureOrder = {
        siteId: site.siteId,
        by: subjectOf(body),
        channel: 's2s',
        idempotencyKey: body.idempotency_key,
      };
      const recorded = await orderErasure(pool, keyring, order, { kind: 'user', userId: userOf(caller).id });
      return reply.code(202).send(await receipt(site.siteId, recorded.request.id));
    },
  );
  tool.get('/s2s/erasures/:id', { onRequest: guards.s2sRead, exposeHeadRoute: false }, async (request) => {
    const params = ErasureParams.safeParse(request.params);
    if (!params.success) throw new ApiError('RESOURCE_NOT_FOUND');
    return receipt(callerOf(request).site.siteId, params.data.id);
  });
}
