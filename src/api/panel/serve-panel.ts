import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { z } from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { SignedInUser } from '../../accounts/users/user-directory.js';
import { appendAuditEntry } from '../../platform/audit-log/append-entry.js';
import { withTransaction } from '../../platform/database/pool.js';
import { type ApiUsers, authenticateUser } from '../guards/bearer.js';
import { refuseExcess, setRateLimitHeaders } from '../guards/rate-limit.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { parseJsonBody, validate } from '../server/json-body.js';
import { judgeAgain, judgeForChange, requireRole } from './judge-user.js';
import type { PanelOperation } from './operation.js';
import type { PanelInput, PanelRoute } from './route.js';

export interface ServePanelDeps {
  readonly apiUsers: ApiUsers;
  readonly rateLimiter: RateLimiter;
  /** Requests a minute of one user. */
  readonly limit: number;
  /** Connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  /** Connections in the role `consent_ledger_admin`. */
  readonly adminPool: pg.Pool;
}

/**
 * Registers the routes of the panel below the scope's prefix. Every request passes, in this order: bearer token, rate limit, role; once its body
 * is there, sign-in and role again, the schemas of path, query and body, and that a site in the path is the tenant's own; only then its handler runs.
 */
export function servePanel(scope: FastifyInstance, routes: readonly PanelRoute[], deps: ServePanelDeps): void {
  for (const route of routes) {
    const { operation } = route;
    scope.route({
      method: operation.method.toUpperCase(),
      url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
      ...(operation.bodyLimit !== undefined && { bodyLimit: operation.bodyLimit }),
      // Downloads leave a line in the audit log, and HEAD downloads nothing.
      ...(operation.download !== undefined && { exposeHeadRoute: false }),
      // Before the body is read: who may not use the route does not make us read megabytes.
      onRequest: async (request, reply) => {
        request.panelUser = await authorizedUser(deps, operation, request, reply);
      },
      handler: async (request, reply) => {
        const { panelUser: user } = request;
        if (user === null) throw new ApiError('MISSING_BEARER_TOKEN');
        const answer = await route.answer(inputOf(deps, operation, user, request, reply));
        if (answer === undefined) return reply;
        return reply.code(operation.status).send(answer);
      },
    });
  }
}

async function authorizedUser(
  deps: ServePanelDeps,
  operation: PanelOperation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedInUser> {
  const user = await authenticateUser(deps.apiUsers, request.headers.authorization);
  const decision = await deps.rateLimiter.take('panel', user.id, deps.limit);
  setRateLimitHeaders(reply, decision);
  refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
  requireRole(operation, user);
  return user;
}

function inputOf(
  deps: ServePanelDeps,
  operation: PanelOperation,
  asked: SignedInUser,
  request: FastifyRequest,
  reply: FastifyReply,
): PanelInput {
  return {
    reply,
    check: async <P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>({
      params,
      query,
      body,
    }: PanelOperation<P, Q, B>) => {
      const user = await judgeAgain(deps.apiUsers.users, operation, asked);
      const isEmpty = request.rawBody.length === 0 && body.safeParse(undefined).success;
      const checked = {
        user,
        params: validate(params, request.params),
        query: validate(query, request.query),
        body: validate(body, isEmpty ? undefined : parseJsonBody(request.rawBody)),
      };
      await refuseForeignSite(deps.apiPool, user, checked.params);
      return checked;
    },
    change: (work) =>
      withTransaction(deps.adminPool, async (transaction) => {
        const user = await judgeForChange(transaction, operation, asked);
        const { response, subject, details = {} } = await work(transaction, user);
        if (operation.action === null) throw new Error(`${operation.id} changes something, and names no action`);
        await appendAuditEntry(transaction, {
          tenantId: user.tenantId,
          actor: { kind: 'user', userId: user.id },
          action: operation.action,
          subject,
          details,
        });
        return response;
      }),
  };
}

const WithSite = z.object({ site_id: z.string() });

/** A site of another tenant is answered like one that does not exist. */
async function refuseForeignSite(pool: pg.Pool, user: SignedInUser, params: unknown): Promise<void> {
  const named = WithSite.safeParse(params);
  if (!named.success) return;
  const { rowCount } = await pool.query('select from sites where id = $1 and tenant_id = $2', [
    named.data.site_id,
    user.tenantId,
  ]);
  if (rowCount === 0) throw new ApiError('SITE_NOT_FOUND');
}
