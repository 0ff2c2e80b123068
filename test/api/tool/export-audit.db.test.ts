import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../server/running-app.js';
import { Backend } from './export-fixture.js';

describe('exports of consents in the audit log', () => {
  let app: RunningApp;
  let backend: Backend;
  beforeAll(async () => {
    app = await startApp('serve');
    backend = await Backend.of(app);
  });
  afterAll(() => app.stop());

  const lines = async () =>
    (
      await app.superuser.query(
        `select a.tenant_id = s.tenant_id as is_own, a.actor_kind, u.email, a.subject_kind, a.subject_id = s.id::text as is_site, a.details
           from audit_log a
           join sites s on s.id = $1
           left join users u on u.id = a.actor_id
          where a.action = 'consent.export' order by a.seq`,
        [backend.demo.site.id],
      )
    ).rows;

  it('have a line for each page or stream, which names fields and never persons', async () => {
    const visitor = `visitor-${randomUUID()}`;
    await backend.record({ visitor_id: visitor });
    await expect.poll(async () => (await backend.page(`?visitor_id=${visitor}`)).data.length).toBe(1);
    const before = (await lines()).length;
    const stream = await backend.export(`?format=ndjson&visitor_id=${visitor}&from=2020-01-01T00:00:00Z&limit=5`);
    expect(await stream.text()).toContain(visitor);
    await backend.page();
    expect(await backend.wrongFields('?from=yesterday')).toEqual(['from']);
    const line = {
      is_own: true,
      actor_kind: 'user',
      email: backend.demo.api_user.email,
      subject_kind: 'site',
      is_site: true,
      details: { disclosed: true, api_key_id: expect.any(String), filter: ['visitor_id', 'from'] },
    };
    expect((await lines()).slice(before)).toEqual([line, { ...line, details: { ...line.details, filter: [] } }]);
    expect(JSON.stringify(await lines())).not.toContain(visitor);
  });

  it('are not shown where the line cannot be written', async () => {
    await app.superuser.query('revoke insert on audit_log from consent_ledger_api');
    try {
      for (const query of ['', '?format=ndjson']) {
        const answer = await backend.export(query);
        expect(answer.status).toBe(503);
        expect(answer.headers.get('retry-after')).toBe('2');
        expect(await answer.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      }
    } finally {
      await app.superuser.query('grant insert on audit_log to consent_ledger_api');
    }
    expect((await backend.export()).status).toBe(200);
  });
});
