import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { mailCauseOf } from '../../accounts/mail/mail-queue.js';
import { readSignedInUser, type SignedInUser } from '../../accounts/users/user-directory.js';
import { lockUsersOf } from '../../accounts/users/users.js';
import type { AuditSubject } from '../../platform/audit-log.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { serviceUnavailable } from '../../platform/errors.js';
import { type RowSeals, readSealed } from '../../platform/keys/index.js';
import { type ApiUsers, authenticateUser } from '../guards/bearer.js';
import { refuseExcess, setRateLimitHeaders } from '../guards/rate-limiter.js';
import type { PanelCaller } from '../server/caller.js';
import { goneClient } from '../server/gone-client.js';
import type { Operation } from '../server/operation.js';
import { parsedParts, registerOperation } from '../server/register-operation.js';
import type { PanelCall, Recorded, Route } from '../server/route.js';
import { preparedDocument } from '../server/send-document.js';
import { StaticText } from '../server/static-text.js';
import { actorOf } from './caller.js';
import type { PanelDeps } from './deps.js';

export interface ServePanelOptions extends PanelDeps {
  readonly apiUsers: ApiUsers;
  /** Requests per minute of one user. */
  readonly limit: number;
  /** Connections in the role `consent_ledger_admin`. */
  readonly adminPool: pg.Pool;
  readonly seals: RowSeals;
}

/**
 * Registers the operations of the panel. Every request passes, in this order: bearer token, rate limit, role; once its
 * body has arrived, sign-in and role again, the schemas of path, query and body, and whether a site in the path belongs
 * to the tenant. Only then does its handler run.
 */
export function servePanel(scope: FastifyInstance, routes: readonly PanelRoute[], options: ServePanelOptions): void {
  for (const route of routes) {
    registerOperation(scope, route, {
      // This comes before the body is read, because a user without the role must not make the service read megabytes.
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
  // The body can take a minute to arrive, after which the earlier checks may be out of date. The directory knows the
  // user as of the last second.
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
        // A change that withdraws rights either comes before this one or waits until this one ends. Until then, the
        // user's state and role stay as they are.
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
          message:
            'Nothing was disclosed, because the audit log could not be written. Retry after the time in Retry-After.',
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

/**
 * Refuses a site of another tenant, or one whose row was altered, with the same response as a site that does not exist.
 */
async function refuseForeignSite(db: Queryable, seals: RowSeals, user: SignedInUser, params: unknown): Promise<void> {
  const named = WithSite.safeParse(params);
  if (!named.success) return;
  const { site_id: siteId } = named.data;
  const query = { table: 'sites', where: 'id = $1 and tenant_id = $2', values: [siteId, user.tenantId] } as const;
  if ((await readSealed(db, seals, query, z.object({}))) === null) throw new ApiError('SITE_NOT_FOUND');
}

/** An operation of the panel. */
export type PanelRoute = Route<'panel', PanelDeps>;
type Call = PanelCall<unknown, unknown, unknown>;

/** A request before its parameters and its body are checked. */
export interface PanelRequest {
  /**
   * Checks the user's rights again, and then path, query and body against the schemas of the operation.
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE, VALIDATION_ERROR, MALFORMED_JSON,
   *   SITE_NOT_FOUND
   */
  check(): Promise<Call>;
  /**
   * Runs a change and writes its audit-log entry, in one transaction.
   * @param work receives the user as read within the transaction
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
   */
  change(work: (db: Queryable, user: PanelCaller) => Promise<Recorded<unknown>>): Promise<unknown>;
  /**
   * Writes the audit entry of a disclosure, in a transaction of its own. It first checks the user's rights again,
   * because preparing the disclosure may have taken seconds.
   * @returns the response, which may now be sent
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE, SERVICE_UNAVAILABLE if the entry
   *   cannot be written
   */
  disclose(disclosure: Recorded<unknown>): Promise<unknown>;
}

/** Handles a request. @returns the body of the response, or the reply if it was already sent */
export async function answerPanel(route: PanelRoute, request: PanelRequest, deps: PanelDeps): Promise<unknown> {
  const call = await request.check();
  const { reply } = call;
  if ('disclose' in route) {
    const { response, ...entry } = await route.disclose(call, deps);
    return request.disclose({ response: route.response.parse(response), ...entry });
  }
  if ('handle' in route) {
    const answer = await route.handle(call, deps);
    // The handler of a download has already sent its reply, and awaiting a reply yields undefined.
    if (route.download !== undefined) return reply;
    const response = route.response.parse(answer);
    if (route.isCompressed !== true) return response;
    const document = preparedDocument('application/json; charset=utf-8', JSON.stringify(response), {});
    return new StaticText(document).send(reply.request, reply);
  }
  if ('change' in route) {
    return route.response.parse(await request.change((db, user) => route.change({ ...call, user }, db, deps)));
  }
  const change = await route.prepare(call, deps);
  return route.response.parse(await request.change((db, user) => change({ ...call, user }, db)));
}

/**
 * Appends the entry of an operation to the audit log.
 * @throws Error if the operation names no action
 */
export async function appendEntry(
  db: Queryable,
  { id, action }: Operation,
  caller: PanelCaller,
  subject: AuditSubject,
  details: JsonObject = {},
): Promise<void> {
  if (action === null) throw new Error(`${id} needs an audit entry, and names no action`);
  await appendAuditEntry(db, { tenantId: caller.tenantId, actor: actorOf(caller), action, subject, details });
}
