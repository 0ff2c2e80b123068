import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { mailCauseOf } from '../../accounts/mail/mail-queue.js';
import type { SignedInUser } from '../../accounts/users/user-directory.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { serviceUnavailable } from '../../platform/errors.js';
import { type RowSeals, readSealed } from '../../platform/keys/index.js';
import { type ApiUsers, authenticateUser } from '../guards/bearer.js';
import { refuseExcess, setRateLimitHeaders } from '../guards/rate-limit.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { goneClient } from '../server/gone-client.js';
import { validate } from '../server/json-body.js';
import type { Operation } from '../server/operation.js';
import { bodyOf, paramsOf, registerOperation } from '../server/register-operation.js';
import { appendEntry } from './append-entry.js';
import { reauthorize, reauthorizeChange, requireRole } from './reauthorize.js';
import type { PanelRequest, PanelRoute } from './route.js';

export interface ServePanelOptions {
  readonly apiUsers: ApiUsers;
  readonly rateLimiter: RateLimiter;
  /** Requests a minute of one user. */
  readonly limit: number;
  /** Connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  /** Connections in the role `consent_ledger_admin`. */
  readonly adminPool: pg.Pool;
  readonly seals: RowSeals;
}

/**
 * Registers the routes of the panel. Every request passes, in this order: bearer token, rate limit,
 * role; once its body has arrived, sign-in and role again, the schemas of path, query and body, and
 * whether a site in the path belongs to the tenant. Only then its handler runs.
 */
export function servePanel(scope: FastifyInstance, routes: readonly PanelRoute[], options: ServePanelOptions): void {
  for (const { operation, answer } of routes) {
    registerOperation(scope, operation, {
      // Before the body is read: a user without the role must not make the service read megabytes.
      onRequest: async (request, reply) => {
        request.panelUser = await authorizedUser(options, operation, request, reply);
      },
      handler: async (request, reply) => {
        const { panelUser: user } = request;
        if (user === null) throw new ApiError('MISSING_BEARER_TOKEN');
        return answer(inputOf(options, operation, user, request, reply));
      },
    });
  }
}

async function authorizedUser(
  options: ServePanelOptions,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedInUser> {
  const user = await authenticateUser(options.apiUsers, request.headers.authorization);
  const decision = await options.rateLimiter.take('panel', user.id, options.limit);
  setRateLimitHeaders(reply, decision);
  refuseExcess(decision, 'RATE_LIMIT_EXCEEDED');
  requireRole(operation, user);
  return user;
}

function inputOf(
  options: ServePanelOptions,
  operation: Operation,
  asked: SignedInUser,
  request: FastifyRequest,
  reply: FastifyReply,
): PanelRequest {
  const { users } = options.apiUsers;
  return {
    reply,
    check: async <P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(checked: Operation<P, Q, B>) => {
      const user = await reauthorize(users, operation, asked);
      const call = {
        user,
        params: paramsOf(checked, request),
        query: validate(checked.query, request.query),
        body: bodyOf(checked, request),
        mailCause: mailCauseOf(request),
        gone: goneClient(reply),
      };
      await refuseForeignSite(options.apiPool, options.seals, user, call.params);
      return call;
    },
    change: (work) =>
      withTransaction(options.adminPool, async (db) => {
        const user = await reauthorizeChange(db, options.seals, operation, asked);
        const { response, subject, details } = await work(db, user);
        await appendEntry(db, operation, user, subject, details);
        return response;
      }),
    disclose: async ({ response, subject, details }) => {
      const user = await reauthorize(users, operation, asked);
      await appendEntry(options.apiPool, operation, user, subject, details).catch((cause: unknown) => {
        throw serviceUnavailable({
          message: 'Nothing was disclosed, because the audit log could not be written. Retry after Retry-After.',
          cause,
        });
      });
      return response;
    },
  };
}

const WithSite = z.object({ site_id: z.string() });

/** A site of another tenant, or whose row was altered, is answered like one that does not exist. */
async function refuseForeignSite(db: Queryable, seals: RowSeals, user: SignedInUser, params: unknown): Promise<void> {
  const named = WithSite.safeParse(params);
  if (!named.success) return;
  const { site_id: siteId } = named.data;
  const query = { table: 'sites', where: 'id = $1 and tenant_id = $2', values: [siteId, user.tenantId] } as const;
  if ((await readSealed(db, seals, query, z.object({}))) === null) throw new ApiError('SITE_NOT_FOUND');
}
