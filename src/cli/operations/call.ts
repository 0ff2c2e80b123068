import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { readUser } from '../../accounts/users/list-users.js';
import { callAsOperator, type OperatorAnswer } from '../../api/panel/call-as-operator.js';
import { operatorOf } from '../../api/panel/caller.js';
import type { PanelRoute } from '../../api/panel/serve-panel.js';
import { tenantList } from '../../api/panel/tenants.js';
import type { Installation } from '../../app/installation.js';
import { operatorDeps } from '../../app/operator-panel.js';
import { tenantOfSite } from '../../tenancy/sites/sites.js';
import { allPages } from '../command/command.js';

/** The values of a call, by name. */
export interface CallValues {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: JsonObject | undefined;
  /** If absent, the tenant of the site or user in the path, or all tenants. */
  readonly tenant: string | undefined;
}

const PAGE = 100;
const Body = z.record(z.string(), z.json());
const ListPage = z.object({ data: z.array(z.json()), next_cursor: z.string().nullable() }).catchall(z.json());

/** Calls an operation in its tenant. @throws the errors of `callAsOperator` */
export async function call(installation: Installation, route: PanelRoute, values: CallValues): Promise<OperatorAnswer> {
  const [tenant] = await tenantsOf(installation, values);
  return send(installation, route, values, tenant ?? '');
}

/** The JSON of a response. */
export async function jsonOfAnswer({ body }: OperatorAnswer): Promise<JsonObject> {
  return Body.parse(JSON.parse(await text(body)));
}

/**
 * Reads a list, for all tenants if none is named.
 * @param most maximum number of items
 * @returns the first page with the items of all pages, and the cursor of the next
 */
export async function callList(
  installation: Installation,
  route: PanelRoute,
  values: CallValues,
  most: number,
): Promise<JsonObject> {
  const items: JsonValue[] = [];
  let first: JsonObject = {};
  let cursor: string | null = values.query.cursor ?? null;
  for (const tenant of await tenantsOf(installation, values)) {
    do {
      const limit = String(Math.min(PAGE, most - items.length));
      const query = { ...values.query, limit, ...(cursor !== null && { cursor }) };
      const answer = await send(installation, route, { ...values, query }, tenant);
      const page = ListPage.parse(await jsonOfAnswer(answer));
      if (items.length === 0) first = page;
      items.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null && items.length < most);
    if (items.length >= most) break;
  }
  return { ...first, data: items, next_cursor: cursor };
}

async function send(
  installation: Installation,
  route: PanelRoute,
  { params, query, body }: CallValues,
  tenant: string,
): Promise<OperatorAnswer> {
  const place = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return callAsOperator(route, await operatorDeps(installation), installation.adminPool, {
    operator: operatorOf(tenant),
    url: `${place}?${new URLSearchParams(query)}`,
    body: body && JSON.stringify(body),
  });
}

/** Returns the tenants that a call concerns: that of its path or option, or all. */
async function tenantsOf({ adminPool }: Installation, { params, tenant }: CallValues): Promise<readonly string[]> {
  if (params.site_id !== undefined) return [await tenantOfSite(adminPool, params.site_id)];
  if (params.user_id !== undefined) return [(await readUser(adminPool, null, params.user_id)).tenantId];
  const named = params.tenant_id ?? tenant;
  if (named !== undefined) return [named];
  return (await allPages((page) => tenantList(adminPool, null, page))).map(({ id }) => id);
}
