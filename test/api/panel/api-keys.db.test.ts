import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ApiKey, NewApiKey } from '../../../schemas/api/panel/api-keys.js';
import { createKeyUsage } from '../../../src/tenancy/api-keys/key-usage.js';
import { ask } from '../server/running-app.js';
import { type PanelApp, startPanel } from './panel-fixture.js';

let panel: PanelApp;
let path: string;
beforeAll(async () => {
  panel = await startPanel();
  path = `/sites/${panel.own.siteId}/api-keys`;
});
afterAll(() => panel.stop());

const make = async (members: object): Promise<z.infer<typeof NewApiKey>> => {
  const answer = await panel.as(panel.own.users.admin, 'POST', path, members);
  expect(answer.status).toBe(201);
  return z.object({ data: NewApiKey }).parse(answer.body).data;
};
const statusOf = async (key: string): Promise<number> =>
  (await ask(`${panel.app.url}/tool/v1/ping`, { headers: { 'x-api-key': key } })).status;

it('shows a key once, and its beginning from then on', async () => {
  const { key, ...made } = await make({ scope: 'write', name: 'Web' });
  expect(key).toMatch(/^svc_live_[\w-]{43}$/);
  expect(key.startsWith(made.prefix)).toBe(true);
  expect(await statusOf(key)).toBe(200);
  const read = await panel.as(panel.own.users.viewer, 'GET', `${path}/${made.id}`);
  expect(read).toMatchObject({ status: 200, body: { data: { id: made.id, name: 'Web', scope: 'write' } } });
  const listed = await panel.as(panel.own.users.viewer, 'GET', path);
  expect(JSON.stringify([read.body, listed.body])).not.toContain(key);
  const { rows } = await panel.app.superuser.query('select * from api_keys where id = $1', [made.id]);
  expect(JSON.stringify(rows)).not.toContain(key);
  const log = await panel.as(panel.own.users.owner, 'GET', `/audit-log?subject_id=${made.id}`);
  expect(log.body).toMatchObject({ data: [{ action: 'api_key.create', details: { scope: 'write' } }] });
  expect(JSON.stringify(log.body)).not.toContain(key);
});

describe('a publishable key', () => {
  const PUBLISHABLE = { scope: 'write', restriction: 'publishable' } as const;
  const shownOf = async (id: string, role: 'owner' | 'admin' | 'dpo' | 'viewer' = 'viewer'): Promise<string | null> => {
    const read = await panel.as(panel.own.users[role], 'GET', `${path}/${id}`);
    const { publishable_key: one } = z.object({ data: ApiKey }).parse(read.body).data;
    const list = await panel.as(panel.own.users[role], 'GET', `${path}?limit=100`);
    const listed = z
      .object({ data: z.array(ApiKey) })
      .parse(list.body)
      .data.find((key) => key.id === id);
    expect(listed?.publishable_key).toBe(one);
    return one;
  };

  it('is shown to everybody who may list keys, live or test', async () => {
    for (const mode of ['live', 'test'] as const) {
      const { id, key, publishable_key } = await make({ ...PUBLISHABLE, mode });
      expect(publishable_key).toBe(key);
      for (const role of ['owner', 'admin', 'dpo', 'viewer'] as const) expect(await shownOf(id, role)).toBe(key);
      const log = await panel.as(panel.own.users.owner, 'GET', `/audit-log?subject_id=${id}`);
      expect(JSON.stringify(log.body)).not.toContain(key);
    }
  });

  it('is the only kind that is shown and stored in clear', async () => {
    for (const restriction of ['secret', null] as const) {
      const { id, key } = await make({ scope: 'write', restriction });
      expect(await shownOf(id)).toBeNull();
      await panel.app.change('update api_keys set publishable_key = $2 where id = $1', [id, key]);
      expect(await shownOf(id)).toBeNull();
    }
    const { rows } = await panel.app.superuser.query(
      `select count(*)::int as count from api_keys where restriction = 'publishable' and publishable_key is null
        union all select count(*)::int from api_keys where restriction is null and publishable_key is not null`,
    );
    expect(rows).toEqual([{ count: 0 }, { count: 1 }]);
  });

  it('is shown after a rotation too, the old one while it works', async () => {
    const old = await make(PUBLISHABLE);
    await panel.app.change('update api_keys set publishable_key = null where id = $1', [old.id]);
    expect(await shownOf(old.id)).toBeNull();
    const rotate = async (id: string) => {
      const answer = await panel.as(panel.own.users.admin, 'POST', `${path}/${id}/rotate`, { grace_seconds: 60 });
      return z.object({ data: NewApiKey }).parse(answer.body).data;
    };
    const second = await rotate(old.id);
    expect([second.publishable_key, await shownOf(second.id)]).toEqual([second.key, second.key]);
    const third = await rotate(second.id);
    expect([await shownOf(second.id), await shownOf(third.id)]).toEqual([second.key, third.key]);
    await panel.app.change('update api_keys set expires_at = now() where id = $1', [second.id]);
    expect(await shownOf(second.id)).toBeNull();
  });

  it('is not shown once it is revoked', async () => {
    const { id, key } = await make(PUBLISHABLE);
    const renamed = await panel.as(panel.own.users.admin, 'PATCH', `${path}/${id}`, { name: 'Web' });
    expect(renamed.body).toMatchObject({ data: { publishable_key: key } });
    const revoked = await panel.as(panel.own.users.admin, 'POST', `${path}/${id}/revoke`);
    expect(revoked.body).toMatchObject({ data: { publishable_key: null } });
    expect(await shownOf(id)).toBeNull();
  });

  it.each([
    ['the text of another key', async () => (await make(PUBLISHABLE)).key, false],
    ['a text that is no key, with its digest', async () => '"></script><script src="https://evil.example', true],
  ])('shows nothing of a row with %s', async (_, textOf, withDigest) => {
    const { id } = await make(PUBLISHABLE);
    const text = await textOf();
    await panel.app.superuser.query(
      'update api_keys set publishable_key = $2::text, digest = case when $3 then sha256($2::text::bytea) else digest end where id = $1',
      [id, text, withDigest],
    );
    expect(await shownOf(id)).toBeNull();
  });

  it('works no longer if its row got another text and the digest of it', async () => {
    const [{ id }, { key }] = [await make(PUBLISHABLE), { key: `svc_live_${'A'.repeat(43)}` }];
    await panel.app.superuser.query(
      'update api_keys set publishable_key = $2::text, digest = sha256($2::text::bytea) where id = $1',
      [id, key],
    );
    expect(await statusOf(key)).toBe(401);
  });
});

it('rotates a key: the old one works for its grace, and not after', async () => {
  const old = await make({ scope: 'read', name: 'Reports' });
  const rotate = () => panel.as(panel.own.users.admin, 'POST', `${path}/${old.id}/rotate`, { grace_seconds: 3_600 });
  const answer = await rotate();
  expect(answer.status).toBe(201);
  const next = z.object({ data: NewApiKey }).parse(answer.body).data;
  expect(next).toMatchObject({ scope: 'read', name: 'Reports', expires_at: null });
  expect([await statusOf(old.key), await statusOf(next.key)]).toEqual([200, 200]);
  expect(await rotate()).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
  const readOld = () => panel.as(panel.own.users.viewer, 'GET', `${path}/${old.id}`);
  const { expires_at } = z.object({ data: ApiKey }).parse((await readOld()).body).data;
  expect(Date.parse(expires_at ?? '') - Date.parse(next.created_at)).toBe(3_600_000);
  await panel.app.change('update api_keys set expires_at = now() where id = $1', [old.id]);
  await expect.poll(() => statusOf(old.key), { interval: 300 }).toBe(401);
  expect(await statusOf(next.key)).toBe(200);
  expect(z.object({ data: ApiKey }).parse((await readOld()).body).data).toMatchObject({ replaced_by: next.id });
});

it('makes and lists test keys as such', async () => {
  const { key, ...made } = await make({ scope: 'write', mode: 'test' });
  expect([key, made.prefix, made.mode]).toEqual([
    expect.stringMatching(/^svc_test_[\w-]{43}$/),
    key.slice(0, 15),
    'test',
  ]);
  expect((await make({ scope: 'write' })).mode).toBe('live');
  const listed = await panel.as(panel.own.users.viewer, 'GET', `${path}?limit=100`);
  expect(listed.body).toMatchObject({
    data: expect.arrayContaining([expect.objectContaining({ id: made.id, mode: 'test' })]),
  });
  const log = await panel.as(panel.own.users.owner, 'GET', `/audit-log?subject_id=${made.id}`);
  expect(log.body).toMatchObject({ data: [{ details: { mode: 'test' } }] });
  for (const [days, live_host] of [
    [0, 'shop.example'],
    [2, null],
  ] as const) {
    await panel.app.superuser.query(
      "update api_keys set live_host = 'shop.example', live_seen_at = now() - $2 * interval '1 day' where id = $1",
      [made.id, days],
    );
    const read = await panel.as(panel.own.users.viewer, 'GET', `${path}/${made.id}`);
    expect(read.body).toMatchObject({ data: { live_host } });
  }
});

it('makes one new key when two rotations meet', async () => {
  const old = await make({ scope: 'read' });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => panel.as(panel.own.users.admin, 'POST', `${path}/${old.id}/rotate`, {})),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
});

it('revokes a key within a second or so', async () => {
  const made = await make({ scope: 'read' });
  expect(await statusOf(made.key)).toBe(200);
  const revoked = await panel.as(panel.own.users.admin, 'POST', `${path}/${made.id}/revoke`);
  expect(z.object({ data: ApiKey }).parse(revoked.body).data.revoked_at).not.toBeNull();
  await expect.poll(() => statusOf(made.key)).toBe(401);
  expect(await panel.as(panel.own.users.admin, 'POST', `${path}/${made.id}/rotate`, {})).toMatchObject({
    status: 409,
    body: { code: 'WRONG_STATE' },
  });
});

it('answers keys that are not there, and those of other sites, alike', async () => {
  const foreign = await panel.as(panel.foreign.users.owner, 'POST', `/sites/${panel.foreign.siteId}/api-keys`, {
    scope: 'write',
  });
  const { id } = z.object({ data: NewApiKey }).parse(foreign.body).data;
  for (const keyId of [id, randomUUID()]) {
    const gone = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };
    const { admin } = panel.own.users;
    expect(await panel.as(admin, 'GET', `${path}/${keyId}`)).toMatchObject(gone);
    expect(await panel.as(admin, 'PATCH', `${path}/${keyId}`, { name: 'x' })).toMatchObject(gone);
    expect(await panel.as(admin, 'POST', `${path}/${keyId}/rotate`, {})).toMatchObject(gone);
    expect(await panel.as(admin, 'POST', `${path}/${keyId}/revoke`)).toMatchObject(gone);
  }
});

it('writes down when a key was used, and never an earlier time over a later one', async () => {
  const { id } = await make({ scope: 'read' });
  const pool = panel.app.service.installation.apiPool;
  const at = Date.parse('2026-05-01T10:20:30.500Z');
  const usedAt = async (): Promise<unknown> =>
    (await panel.app.superuser.query('select last_used_at from api_keys where id = $1', [id])).rows[0].last_used_at;
  for (const now of [at, at - 3_600_000]) {
    const usage = createKeyUsage(pool, () => now);
    usage.note(id);
    await usage.flush();
    expect(await usedAt()).toEqual(new Date('2026-05-01T10:20:00Z'));
  }
});

it('notes the use of keys in the running service', async () => {
  const made = await make({ scope: 'read' });
  await statusOf(made.key);
  await panel.app.service.stop();
  const { rows } = await panel.app.superuser.query('select last_used_at from api_keys where id = $1', [made.id]);
  expect(rows[0].last_used_at).not.toBeNull();
});
