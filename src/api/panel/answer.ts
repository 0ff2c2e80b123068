import type { JsonObject } from '../../../schemas/json/json-value.js';
import { appendAuditEntry } from '../../platform/audit-log/append-entry.js';
import type { AuditSubject } from '../../platform/audit-log/entry.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { PanelCaller } from '../server/caller.js';
import type { Operation } from '../server/operation.js';
import type { PanelCall, Recorded, Route } from '../server/route.js';
import { preparedDocument } from '../server/send-document.js';
import { StaticText } from '../server/static-text.js';
import { actorOf } from './caller.js';
import type { PanelDeps } from './deps.js';

/** An operation of the panel. */
export type PanelRoute = Route<'panel', PanelDeps>;
type Call = PanelCall<unknown, unknown, unknown>;

/** A request before its parameters and its body are checked. */
export interface PanelRequest {
  /**
   * Reauthorizes the user, and then checks path, query and body with the schemas of the operation.
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE, VALIDATION_ERROR, MALFORMED_JSON,
   *   SITE_NOT_FOUND
   */
  check(): Promise<Call>;
  /**
   * Runs a change and writes its entry of the audit log, in one transaction.
   * @param work receives the user as read within the transaction
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
   */
  change(work: (db: Queryable, user: PanelCaller) => Promise<Recorded<unknown>>): Promise<unknown>;
  /**
   * Writes the audit entry of a disclosure, in a transaction of its own. The user is reauthorized
   * first, because the disclosure may have taken seconds.
   * @returns the response, which may be sent from then on
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
    // A reply that was awaited is no value: the handler of a download has sent it.
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
