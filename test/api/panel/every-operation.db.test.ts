import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/accounts/users/user-directory.js';
import { PANEL_OPERATIONS } from '../../../src/api/panel/operations.js';
import { ask } from '../server/running-app.js';
import { belowPrefix, type PanelApp, startPanel } from './panel-fixture.js';

const ROLES: readonly Role[] = ['owner', 'admin', 'dpo', 'viewer', 'api_user'];

/** What they look for can be personal, and URLs are logged. */
const READ_BY_POST = ['search', 'searchAuditLog'];

describe('every operation of the panel', () => {
  let panel: PanelApp;
  beforeAll(async () => {
    panel = await startPanel();
  });
  afterAll(() => panel.stop());

  it('has an id and a path that no other operation has', () => {
    expect(new Set(PANEL_OPERATIONS.map(({ id }) => id)).size).toBe(PANEL_OPERATIONS.length);
    expect(new Set(PANEL_OPERATIONS.map(({ method, path }) => `${method} ${path}`)).size).toBe(PANEL_OPERATIONS.length);
  });

  it.each(PANEL_OPERATIONS)(
    '$id names its audit action if it changes or discloses something, and uses GET if not',
    ({ id, method, action, access: { roles } }) => {
      const reads = (method === 'get' && id !== 'downloadExport') || READ_BY_POST.includes(id);
      expect(action === null).toBe(reads);
      expect(roles).not.toContain('api_user');
      expect(roles).toContain('owner');
      // The data protection officer reads everything.
      if (method === 'get') expect(roles).toContain('dpo');
    },
  );

  it.each(PANEL_OPERATIONS)('$id requires a bearer token of one of its roles', async ({ method, path, access }) => {
    const filled = belowPrefix(path).replace(/\{\w+\}/g, () => randomUUID());
    const anonymous = await ask(`${panel.app.url}/api/v1${filled}`, { method: method.toUpperCase() });
    expect(anonymous).toMatchObject({ status: 401, body: { code: 'MISSING_BEARER_TOKEN' } });
    for (const role of ROLES.filter((each) => access.roles?.includes(each) !== true)) {
      const answer = await panel.as(panel.own.users[role], method.toUpperCase(), filled);
      expect(answer, role).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_ROLE' } });
    }
  });
});
