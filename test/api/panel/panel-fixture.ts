import { randomBytes } from 'node:crypto';
import { TokensResponse } from '../../../schemas/api/auth.js';
import type { Role } from '../../../src/accounts/users/user-directory.js';
import { createUser } from '../../../src/accounts/users/users.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { createTenant, PLANS } from '../../../src/tenancy/tenants/tenants.js';
import { type Answer, ask, type RunningApp, type Role as ServiceRole, startApp } from '../server/running-app.js';

/** The path of an operation below /api/v1, as `PanelApp.as` uses it. */
export function belowPrefix(path: string): string {
  return path.slice('/api/v1'.length);
}

/** A tenant with a site and a user of each role, signed in. */
export interface PanelTenant {
  readonly id: string;
  readonly siteId: string;
  readonly users: Readonly<Record<Role, PanelUser>>;
}

export interface PanelUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** The real service with two tenants. */
export interface PanelApp {
  readonly app: RunningApp;
  readonly own: PanelTenant;
  readonly foreign: PanelTenant;
  /** A request below /api/v1, as a user. */
  as(user: PanelUser, method: string, path: string, body?: unknown): Promise<Answer>;
  signIn(email: string, password: string): Promise<Answer>;
  makeTenant(): Promise<PanelTenant>;
  stop(): Promise<void>;
}

export async function startPanel(
  role: ServiceRole = 'api',
  env: Readonly<Record<string, string>> = {},
): Promise<PanelApp> {
  const app = await startApp(role, env);
  const { adminPool } = app.service.installation;
  const send = (method: string, path: string, token: string | null, body?: unknown): Promise<Answer> =>
    ask(`${app.url}/api/v1${path}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const signIn = (email: string, password: string) => send('POST', '/auth/login', null, { email, password });
  const makeUser = async (tenantId: string, userRole: Role): Promise<PanelUser> => {
    const email = `${userRole}-${randomBytes(6).toString('hex')}@tenant.example`;
    const password = randomBytes(12).toString('base64url');
    const { id } = await createUser(adminPool, { tenantId, email, password, role: userRole });
    const { body } = await signIn(email, password);
    const { data } = TokensResponse.parse(body);
    return { id, email, password, accessToken: data.access_token, refreshToken: data.refresh_token };
  };
  const makeTenant = async (): Promise<PanelTenant> => {
    const { id } = await createTenant(adminPool, `Tenant ${randomBytes(4).toString('hex')}`, PLANS.standard);
    const site = await createSite(adminPool, {
      tenantId: id,
      name: 'Shop',
      domain: 'shop.example',
      isVerified: true,
      allowedOrigins: [],
      allowedIps: [],
    });
    const [owner, admin, dpo, viewer, api_user] = await Promise.all([
      makeUser(id, 'owner'),
      makeUser(id, 'admin'),
      makeUser(id, 'dpo'),
      makeUser(id, 'viewer'),
      makeUser(id, 'api_user'),
    ]);
    return { id, siteId: site.id, users: { owner, admin, dpo, viewer, api_user } };
  };
  return {
    app,
    own: await makeTenant(),
    foreign: await makeTenant(),
    as: (user, method, path, body) => send(method, path, user.accessToken, body),
    signIn,
    makeTenant,
    stop: () => app.stop(),
  };
}
