import { v7 as uuidV7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { ErasureReceiptResponse } from '../../../schemas/api/erasures.js';
import { EvidenceExportAnswer } from '../../../schemas/api/panel/exports.js';
import { createInvitation } from '../../../src/accounts/sign-in/invitations.js';
import { createPasswordReset } from '../../../src/accounts/sign-in/set-password.js';
import { TOOL_API_OPERATIONS } from '../../../src/api/openapi/descriptions.js';
import { EXAMPLE_VALUES } from '../../../src/api/server/example-values.js';
import type { Operation } from '../../../src/api/server/operation.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { createWebhook } from '../../../src/tenancy/webhooks/webhooks.js';
import { postSigned, signedHeaders } from '../../support/signed-requests.js';
import { turnAccountsOn } from '../../support/turn-accounts-on.js';
import { startSite, type TestSite } from '../../tenancy/scans/scanned-shop.js';
import { ask, type RunningApp, startApp } from '../server/running-app.js';

/**
 * Packages and the ledger have tests of their own: a package is not finished in time, and the
 * ledger grows meanwhile.
 */
const OPERATIONS = TOOL_API_OPERATIONS.filter(({ example }) => example.response !== undefined);

const Minted = z.object({ data: z.object({ approval_token: z.string() }) });
const Recorded = z.object({ data: z.object({ consent_token: z.string() }) });

describe('the examples of the OpenAPI description, executed', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  /** Stands in for the page of the shop. */
  let page: TestSite;
  /** API keys of operations that need another: of the site of that page, and a test key. */
  let scanKey: string;
  let testKey: string;
  /** Values of this installation, by the values in the examples that they replace. */
  const real = new Map<string, string>();
  const bearers = { api: '', panel: '' };

  beforeAll(async () => {
    // Nothing listens on this port: mails wait.
    const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example', PUBLIC_URL: 'https://c.example' };
    page = await startSite('127.0.0.1', (_request, response) => response.end('<h1>Shop</h1>'));
    app = await startApp('serve', { PUBLIC_VERIFY_LIMIT: '1000', SCAN_NETWORKS: '127.0.0.1/32', ...mail });
    demo = await app.seed();
    await turnAccountsOn(app, demo.site.id, null);
    real.set(EXAMPLE_VALUES.versionId, versionOf('cookie-policy'));
    real.set(EXAMPLE_VALUES.approvalVersionId, versionOf('explicit-consent'));
    const scanned = {
      name: 'scanned',
      domain: 'scanned.example',
      isVerified: true,
      allowedOrigins: [],
      allowedIps: [],
    };
    const { id } = await createSite(app.service.installation.adminPool, { tenantId: demo.tenant_id, ...scanned });
    await app.change("update sites set domain = 'localhost' where id = $1", [id]);
    scanKey = (await createApiKey(app.service.installation.adminPool, id, 'write')).key;
    const test = { mode: 'test', restriction: 'secret' } as const;
    testKey = (await createApiKey(app.service.installation.adminPool, demo.site.id, 'write', test)).key;
    real.set(EXAMPLE_VALUES.pageUrl, `http://localhost:${page.port}/`);
    real.set(EXAMPLE_VALUES.email, demo.api_user.email);
    real.set(EXAMPLE_VALUES.password, demo.api_user.password);
    const tokens = await signIn(demo.api_user);
    bearers.api = tokens.access_token;
    bearers.panel = (await signIn(demo.panel_user)).access_token;
    real.set(EXAMPLE_VALUES.refreshToken, tokens.refresh_token);
    real.set(EXAMPLE_VALUES.panelPassword, demo.panel_user.password);
    const { adminPool } = app.service.installation;
    const invited = { tenantId: tokens.user.tenant_id, email: `new@${demo.site.domain}`, role: 'viewer' } as const;
    const invitation = await createInvitation(adminPool, { ...invited, invitedBy: null });
    real.set(EXAMPLE_VALUES.invitationToken, invitation.token);
    const reset = await createPasswordReset(adminPool, { id: tokens.user.id, disabledAt: null }, null);
    real.set(EXAMPLE_VALUES.passwordResetToken, reset.token);
    real.set(
      EXAMPLE_VALUES.approvalToken,
      Minted.parse(await send(operation('mintApprovalToken'))).data.approval_token,
    );
    await postSigned(app.url, testKey, '/tool/v1/consents', {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: versionOf('cookie-policy'),
    });
    const first = Recorded.parse(await send(operation('recordConsentS2s')));
    real.set(EXAMPLE_VALUES.consentToken, first.data.consent_token);
    // The person whose erasure is shown.
    const record = operation('recordConsentS2s');
    const body = { ...record.example.body, visitor_id: 'visitor-0815', idempotency_key: 'order-10024' };
    await send({ ...record, example: { ...record.example, body } });
    real.set(EXAMPLE_VALUES.exportId, EvidenceExportAnswer.parse(await send(operation('exportEvidenceS2s'))).data.id);
    real.set(EXAMPLE_VALUES.erasureId, ErasureReceiptResponse.parse(await send(operation('eraseS2s'))).data.id);
    const hook = { url: 'https://hooks.invalid/', description: '', events: ['idempotency.conflict'] } as const;
    const { keyring } = app.service.installation;
    const { id: webhookId } = await createWebhook(adminPool, keyring, demo.site.id, {
      ...hook,
      events: [...hook.events],
    });
    real.set(EXAMPLE_VALUES.webhookId, webhookId);
    const deliveryId = uuidV7();
    real.set(EXAMPLE_VALUES.deliveryId, deliveryId);
    await app.superuser.query(
      `insert into webhook_deliveries (id, webhook_id, message_id, type, place, event_id, status, attempts, attempted_at)
       values ($1, $2, 'msg_1', 'consent.recorded', 0, gen_random_uuid(), 'delivered', 1, now())`,
      [deliveryId, webhookId],
    );
    await expectStored('consents');
    await expectStored('erasures');
  });
  afterAll(async () => {
    await app.stop();
    await page.close();
  });

  const versionOf = (slug: string): string => {
    const document = demo.documents.find((one) => one.slug === slug);
    return document?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
  };
  const signIn = async (login: object) => {
    const headers = { 'content-type': 'application/json' };
    const url = `${app.url}/api/v1/auth/login`;
    const answer = await ask(url, { method: 'POST', headers, body: JSON.stringify(login) });
    return TokensResponse.parse(answer.body).data;
  };
  const operation = (id: string): Operation => {
    const found = OPERATIONS.find((one) => one.id === id);
    if (found === undefined) throw new Error(`there is no operation ${id}`);
    return found;
  };
  const inPlace = (text: string): string => {
    let replaced = text;
    for (const [shown, value] of real) replaced = replaced.replaceAll(shown, value);
    return replaced;
  };
  const expectStored = async (table: 'consents' | 'erasures'): Promise<void> => {
    for (;;) {
      const { rowCount } = await app.superuser.query(`select from read_model.${table}`);
      if (rowCount !== null && rowCount > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  async function send({ id, method, path, access, example, status }: Operation): Promise<unknown> {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPlace(example.path?.[name] ?? ''));
    const query = new URLSearchParams(JSON.parse(inPlace(JSON.stringify(example.query ?? {})))).toString();
    const body = example.body === undefined ? null : inPlace(JSON.stringify(example.body));
    const bearer = access.apiKey === null ? bearers.panel : bearers.api;
    const headers: Record<string, string> = {
      ...(access.apiKey !== null && { 'x-api-key': id === 'listTestEvents' ? testKey : demo.keys.read }),
      ...(body !== null && { 'content-type': 'application/json' }),
      ...(access.isSigned && signedHeaders(id === 'scanPage' ? scanKey : demo.keys.write, filled, body ?? '')),
      ...(access.roles !== null && { authorization: `Bearer ${bearer}` }),
    };
    const url = `${app.url}${filled}${query === '' ? '' : `?${query}`}`;
    const answer = await ask(url, { method: method.toUpperCase(), headers, body });
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status });
    return answer.body;
  }

  it.each(OPERATIONS)('$method $path', async (described) => {
    const body = await send(described);
    const { response, example } = described;
    expect(response.safeParse(body).error).toBeUndefined();
    expect(shapeOf(body)).toEqual(shapeOf(example.response));
    const { message } = z.object({ message: z.string().optional() }).parse(body);
    // The consent of this example was recorded once already, to have one to read.
    if (described.id !== 'recordConsentS2s') expect(message).toBe(example.response?.message);
  });

  it('is served without credentials', async () => {
    const answer = await fetch(`${app.url}/openapi/tool-api.json`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toMatchObject({ openapi: '3.1.1' });
  });
});

/** Names of the members that every answer of a route has, two levels deep. */
function shapeOf(body: unknown): unknown {
  const { data, ...envelope } = z.looseObject({ data: z.unknown().optional() }).parse(body);
  const inner = Array.isArray(data) ? data[0] : data;
  return [Object.keys(envelope).sort(), Object.keys(z.looseObject({}).parse(inner ?? {})).sort()];
}
