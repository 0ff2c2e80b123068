import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { CreateExportRequest, EvidenceExportAnswer, S2sExportParams } from '../../../schemas/api/panel/exports.js';
import {
  auditDetails,
  type CreateExportParts,
  createExport,
  exportFilter,
  findPackage,
  readExport,
} from '../../evidence/exports/index.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import { appendAuditEntry } from '../../platform/audit-log/append-entry.js';
import { withTransaction } from '../../platform/database/pool.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf, userOf } from '../server/caller.js';
import { parseJsonBody, validate } from '../server/json-body.js';
import { type SendPackageParts, sendPackage } from '../server/send-package.js';
import { signed, signedRequest } from './post-deps.js';

export interface EvidenceExportDeps extends SendPackageParts, CreateExportParts {
  readonly admission: Admission;
  readonly guards: Pick<ToolGuards, 'write' | 's2s' | 's2sRead' | 'authorize'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * POST /tool/v1/s2s/evidence-exports queues an export of the key's site; GET …/{id} tells its state, GET …/{id}/package is the package: the exports of the panel,
 * for backends.
 */
export function s2sEvidenceExports(tool: FastifyInstance, deps: EvidenceExportDeps): void {
  const { guards, pool, keyring } = deps;
  tool.post('/s2s/evidence-exports', { onRequest: signed(guards.s2s, deps.clock) }, async (request, reply) => {
    await deps.admission.useNonce(signedRequest(request, deps));
    const caller = callerOf(request);
    const body = validate(CreateExportRequest, parseJsonBody(request.rawBody));
    const { siteId, tenantId } = caller.site;
    const userId = userOf(caller).id;
    const created = await withTransaction(pool, async (transaction) => {
      const author = { tenantId, siteId, userId, channel: 's2s' } as const;
      const data = await createExport(transaction, deps, author, body);
      await appendAuditEntry(transaction, {
        tenantId,
        actor: { kind: 'user', userId },
        action: 'export.create',
        subject: { kind: 'export', id: data.id },
        details: {
          site_id: siteId,
          api_key_id: caller.apiKey.id,
          ...auditDetails(exportFilter(body.filter), body.disclose),
        },
      });
      return data;
    });
    return reply.code(202).send(EvidenceExportAnswer.parse({ data: { ...created, filter_disclosures: [] } }));
  });

  const read = { onRequest: guards.s2sRead, exposeHeadRoute: false };
  tool.get('/s2s/evidence-exports/:id', read, async (request, reply) =>
    reply.send(EvidenceExportAnswer.parse({ data: await readExport(pool, keyring, idOf(request)) })),
  );
  tool.get('/s2s/evidence-exports/:id/package', read, async (request, reply) => {
    const caller = callerOf(request);
    const id = idOf(request);
    const kept = await findPackage(pool, keyring, id);
    await sendPackage(deps, reply, kept, () =>
      appendAuditEntry(pool, {
        tenantId: caller.site.tenantId,
        actor: { kind: 'user', userId: userOf(caller).id },
        action: 'export.download',
        subject: { kind: 'export', id: id.exportId },
        details: { site_id: id.siteId, channel: 's2s', api_key_id: caller.apiKey.id },
      }),
    );
    return reply;
  });
}

function idOf(request: FastifyRequest): { readonly siteId: string; readonly exportId: string } {
  const params = S2sExportParams.safeParse(request.params);
  if (!params.success) throw new ApiError('RESOURCE_NOT_FOUND');
  return { siteId: callerOf(request).site.siteId, exportId: params.data.id };
}
