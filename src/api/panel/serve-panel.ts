import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { mailCauseOf } from '../../accounts/mail/mail-cause.js';
import { lockUsersOf } from '../../accounts/users/lock-users.js';
import { readSignedInUser, type SignedInUser } from '../../accounts/users/user-directory.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { serviceUnavailable } from '../../platform/errors/service-unavailable.js';
import { type RowSeals, readSealed } from '../../platform/keys/index.js';
import { type ApiUsers, authenticateUser } from '../guards/bearer.js';
import { refuseExcess, setRateLimitHeaders } from '../guards/rate-limit.js';
import { goneClient } from '../server/gone-client.js';
import type { Operation } from '../server/operation.js';
import { parsedParts, registerOperation } from '../server/register-operation.js';
import { answerPanel, appendEntry, type PanelRequest, type PanelRoute } from './answer.js';
import type { PanelDeps } from './deps.js';

export interface ServePanelOptions extends PanelDeps {
  readonly apiUsers: ApiUsers;
  /** Requests a minute of one user. */
  readonly limit: number;
  /** Connections in the role `consent_ledger_admin`. */
  readonly adminPool: pg.Pool;
  readonly seals: RowSeals;
}

/**
 * Registers the operations of the panel. Every request passes, in this order: bearer token, rate limit,
 * role; once its body has arrived, sign-in and role again, the schemas of path, query and body, and
 * whether a site in the path belongs to the tenant. Only then its handler runs.
 */
export function servePanel(scope: FastifyInstance, routes: readonly PanelRoute[], options: ServePanelOptions): void {
  for (const route of routes) {
    registerOperation(scope, route, {
      // Before the body is read: a user without the role must not make the service read megabytes.
      onRequest: async (request, reply) => {
        request.panelUser = await authorizedUser(options, route, request, reply);
      },
      handler: async (request, reply) => {
        const { panelUser: user } = request;
        if (user === null) throw new ApiError('MISSING_BEARER_TOKEN');
        return answerPanel(route, requestOf(options, route, user, request, reply), options);
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
  return permitted(operation, user);
}

function requestOf(
  { apiUsers: { users }, apiPool, adminPool, seals }: ServePanelOptions,
  operation: Operation,
  asked: SignedInUser,
  request: FastifyRequest,
  reply: FastifyReply,
): PanelRequest {
  // After the body of the request has arrived, which can take a minute, the checks before it may be out of date. The
  // directory knows the user as of the last second.
  const reauthorize = async (): Promise<SignedInUser> => permitted(operation, await users.bySignIn(asked.signInId));
  return {
    check: async () => {
      const user = await reauthorize();
      const parts = parsedParts(operation, request);
      await refuseForeignSite(apiPool, seals, user, parts.params);
      return { user, ...parts, mailCause: mailCauseOf(request), gone: goneClient(reply), reply };
    },
    change: (work) =>
      withTransaction(adminPool, async (db) => {
        // A change that takes rights away comes before this one, or waits until it ends: state and role of the user
        // stay as they are until then.
        await lockUsersOf(db, asked.tenantId);
        const user = permitted(operation, await readSignedInUser(db, seals, asked.signInId));
        const { response, subject, details } = await work(db, user);
        await appendEntry(db, operation, user, subject, details);
        return response;
      }),
    disclose: async ({ response, subject, details }) => {
      const user = await reauthorize();
      await appendEntry(apiPool, operation, user, subject, details).catch((cause: unknown) => {
        throw serviceUnavailable({
          message: 'Nothing was disclosed, because the audit log could not be written. Retry after Retry-After.',
          cause,
        });
      });
      return response;
    },
  };
}

/** @throws ApiError INVALID_BEARER_TOKEN for null, INSUFFICIENT_ROLE */
function permitted({ access: { roles } }: Operation, user: SignedInUser | null): SignedInUser {
  if (user === null) throw new ApiError('INVALID_BEARER_TOKEN');
  if (roles?.includes(user.role) === true) return user;
  throw new ApiError('INSUFFICIENT_ROLE', `This route requires one of the roles: ${roles?.join(', ')}.`);
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
