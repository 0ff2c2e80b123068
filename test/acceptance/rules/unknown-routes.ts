import { beforeAll, describe, expect, test } from 'vitest';
import { errorOf, expectError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import type { Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/tool/v1/ping'],
  ['GET', '/tool/v1/config'],
  ['GET', '/tool/v1/documents/active'],
  ['GET', '/tool/v1/documents/cookie-policy/active'],
  ['POST', '/tool/v1/consents'],
  ['POST', '/tool/v1/consents/batch'],
  ['POST', '/tool/v1/s2s/consents'],
  ['POST', '/tool/v1/s2s/consents/batch'],
  ['POST', '/tool/v1/s2s/approval-tokens'],
  ['GET', '/tool/v1/s2s/consents/export'],
  ['GET', '/tool/v1/consents/status'],
  ['GET', '/tool/v1/consents/verify/ct_x'],
  ['GET, POST', '/api/v1/public/consents/verify'],
  ['POST', '/api/v1/auth/login'],
  ['POST', '/api/v1/auth/refresh'],
  ['GET', '/api/v1/auth/me'],
];

/** Routes that there are not, and methods that routes do not have. */
export function unknownRouteRules(world: World): void {
  describe('Unknown routes and methods', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });
    const send = (method: string, path: string): Promise<Answer> =>
      shop.http.send({ method, path, headers: { 'x-api-key': shop.writeKey }, from: '127.0.0.62' });

    for (const [methods, path] of ROUTES) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (methods.split(', ').includes(method)) continue;
        test(`${method} ${path}: 405 METHOD_NOT_ALLOWED, with Allow`, async () => {
          const answer = await send(method, path);
          expectError(answer, 405, 'METHOD_NOT_ALLOWED');
          for (const allowed of methods.split(', ')) expect(answer.headers.allow).toContain(allowed);
        });
      }
    }
    for (const path of [
      '/tool/v1',
      '/tool/v2/ping',
      '/tool/v1/consent',
      '/tool/v1/consents/verify',
      '/tool/v1/documents',
      '/tool/v1/ping/x',
      '/api/v1/public',
      '/api/v1/nothing/x',
      '/TOOL/V1/PING',
      '//tool/v1/ping',
      '/tool/v1/../v1/nothing',
    ]) {
      test(`GET ${path}: 404 ROUTE_NOT_FOUND`, async () => {
        expectError(await shop.get(path), 404, 'ROUTE_NOT_FOUND');
      });
    }
    for (const path of ['/tool/v1/documents/%/active', '/tool/v1/consents/verify/%ff', '/%E0%A4%A']) {
      test(`GET ${path}, whose escapes are wrong: a client error of the same shape`, async () => {
        const answer = await shop.get(path);
        expect([400, 404]).toContain(answer.status);
        errorOf(answer);
      });
    }
  });
}
