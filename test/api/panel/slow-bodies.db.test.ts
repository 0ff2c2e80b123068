import { type ClientRequest, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TokensResponse } from '../../../schemas/api/auth.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { revokeApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { ask } from '../server/running-app.js';
import { type PanelApp, type PanelTenant, type PanelUser, startPanel } from './panel-fixture.js';

/** A request whose headers were checked, and whose body is still being sent. */
interface Begun {
  finish(): Promise<{ readonly status: number; readonly body: unknown }>;
}

describe('rights that were taken away while the body of a request was under way', () => {
  let panel: PanelApp;
  let tenant: PanelTenant;
  let demo: SeededDemo;
  beforeAll(async () => {
    panel = await startPanel();
  });
  beforeEach(async () => {
    tenant = await panel.makeTenant();
    demo = await panel.app.seed();
  });
  afterAll(() => panel.stop());

  const begin = async (path: string, headers: Record<string, string>, body: string): Promise<Begun> => {
    await panel.app.superuser.query('delete from rate_limit_windows');
    const started: ClientRequest = send(panel.app.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    const answered = new Promise<{ status: number; body: unknown }>((resolve, reject) => {
      started.on('error', reject);
      started.on('response', (response) => {
        text(response).then(
          (answer) => resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer) }),
          reject,
        );
      });
    });
    started.write(body.slice(0, 1));
    // It counts once its headers are checked.
    await expect
      .poll(async () => (await panel.app.superuser.query('select from rate_limit_windows')).rowCount)
      .toBeGreaterThan(0);
    return {
      finish: () => {
        started.end(body.slice(1));
        return answered;
      },
    };
  };
  const asUser = (user: PanelUser): Record<string, string> => ({ authorization: `Bearer ${user.accessToken}` });
  const invitationsOf = async (): Promise<number> =>
    (await panel.app.superuser.query('select from invitations where tenant_id = $1', [tenant.id])).rowCount ?? -1;

  it.each([
    [{ is_disabled: true }, 401, 'INVALID_BEARER_TOKEN'],
    [{ role: 'viewer' }, 403, 'INSUFFICIENT_ROLE'],
  ])('change nothing in the panel: %o', async (change, status, code) => {
    const { owner, admin } = tenant.users;
    const body = JSON.stringify({ email: 'friend@shop.example', role: 'admin' });
    const begun = await begin('/api/v1/invitations', asUser(admin), body);
    expect(await panel.as(owner, 'PATCH', `/users/${admin.id}`, change)).toMatchObject({ status: 200 });
    // At once: what is known for a second does not do for a change.
    expect(await begun.finish()).toMatchObject({ status, body: { code } });
    expect(await invitationsOf()).toBe(0);
  });

  it('change what was asked for when they were not', async () => {
    const body = JSON.stringify({ email: 'friend@shop.example', role: 'admin' });
    const begun = await begin('/api/v1/invitations', asUser(tenant.users.admin), body);
    expect(await begun.finish()).toMatchObject({ status: 201 });
    expect(await invitationsOf()).toBe(1);
  });

  const erasure = JSON.stringify({
    subject: { by: 'visitor_id', value: 'somebody' },
    idempotency_key: '5b7a2c1e-98d4-4a6e-b0a3-1f3a7c9e2d10',
  });
  const ERASURES = '/tool/v1/s2s/erasures';
  const beginErasure = async () => {
    const { data } = TokensResponse.parse((await panel.signIn(demo.api_user.email, demo.api_user.password)).body);
    const headers = {
      ...signedHeaders(demo.keys.write, ERASURES, erasure),
      authorization: `Bearer ${data.access_token}`,
    };
    return { userId: data.user.id, headers, begun: await begin(ERASURES, headers, erasure) };
  };
  /** Waits until the process knows of the change, which takes up to a second. */
  const untilRefused = (headers: Record<string, string>): Promise<void> =>
    expect
      .poll(
        async () =>
          (
            await ask(`${panel.app.url}${ERASURES}/6f6a3e0e-3c9f-4a53-8f0c-3d1e2f0f8a11`, {
              headers: { 'x-api-key': headers['x-api-key'] ?? '', authorization: headers.authorization ?? '' },
            })
          ).status,
      )
      .toSatisfy((status) => status === 401 || status === 403);
  const erasures = async (): Promise<number> =>
    (await panel.app.superuser.query('select from erasure_requests where site_id = $1', [demo.site.id])).rowCount ?? -1;

  it.each([
    [`update users set disabled_at = now() where id = $1`, 401, 'INVALID_BEARER_TOKEN'],
    [`update users set role = 'viewer' where id = $1`, 403, 'INSUFFICIENT_ROLE'],
  ])('erase nothing by the Tool API: %s', async (change, status, code) => {
    const { userId, headers, begun } = await beginErasure();
    await panel.app.change(change, [userId]);
    await untilRefused(headers);
    expect(await begun.finish()).toMatchObject({ status, body: { code } });
    expect(await erasures()).toBe(0);
  });

  it('erase nothing with a key that was revoked', async () => {
    const { headers, begun } = await beginErasure();
    const { rows } = await panel.app.superuser.query(`select id from api_keys where site_id = $1 and scope = 'write'`, [
      demo.site.id,
    ]);
    await revokeApiKey(panel.app.service.installation.adminPool, demo.site.id, String(rows[0]?.id));
    await untilRefused(headers);
    expect(await begun.finish()).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } });
    expect(await erasures()).toBe(0);
  });

  it('erase when nothing changed', async () => {
    const { begun } = await beginErasure();
    expect(await begun.finish()).toMatchObject({ status: 202 });
    expect(await erasures()).toBe(1);
  });
});
