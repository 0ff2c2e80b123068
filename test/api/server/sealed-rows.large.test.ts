import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PasskeyChallengeResponse } from '../../../schemas/api/passkeys.js';
import { newSecretToken } from '../../../src/accounts/credentials/credentials.js';
import { userHandle } from '../../../src/accounts/passkeys/use-passkey.js';
import { openInstallation } from '../../../src/app/installation.js';
import { withTransaction } from '../../../src/platform/database/pool.js';
import { SEALED_TABLE_NAMES, SEALED_TABLES, type SealedTable } from '../../../src/platform/database/sealed-tables.js';
import { sealed } from '../../../src/platform/keys/row-seals.js';
import { UNCHECKED_COLUMNS } from '../../audit/unchecked-columns.js';
import { SoftAuthenticator } from '../../support/soft-authenticator.js';
import { sampled } from '../../support/sweeps.js';
import { RecordingTenant } from '../panel/recording-tenant.js';
import { ask, type RunningApp, startApp } from './running-app.js';

const TABLES = SEALED_TABLE_NAMES;
/** Tables with rows of every tenant that these tests make. */
const FILLED = TABLES.filter(
  (table) =>
    ![
      'site_config_drafts',
      'approval_tokens',
      'erasure_requests',
      'exports',
      'export_jobs',
      'webhooks',
      'passkeys',
    ].includes(table),
);
/** Tables whose rows grant something as long as they are not altered. */
const LASTING = ['users', 'sites', 'sign_ins', 'api_keys', 'passkeys'] as const;
const Columns = z.array(z.object({ name: z.string(), type: z.string() }));
const Names = z.array(z.object({ table: z.string(), columns: z.array(z.string()) }));

/** Another value of a column, by its name or its type. */
const OTHER: Readonly<Record<string, string>> = {
  lapses_at: `lapses_at - interval '1 second'`,
  'sign_ins.expires_at': `expires_at + interval '1 day'`,
  role: `case role when 'owner' then 'admin' else 'owner' end`,
  is_test: 'case when is_test is null then true end',
  proof: `case when proof = 'dns' then 'file' else 'dns' end`,
  scope: `case scope when 'read' then 'write' else 'read' end`,
  restriction: `case when restriction is null then 'secret' end`,
  site_config_hash: '(select min(sha256) from site_configs c where c.sha256 is distinct from t.site_config_hash)',
  user_id: '(select u.id from users u where u.id <> t.user_id limit 1)',
  replaced_by: '(select k.id from api_keys k where k.id <> t.id limit 1)',
  site_id: '(select s.id from sites s where s.id <> t.site_id limit 1)',
  tenant_id: '(select n.id from tenants n where n.id <> t.tenant_id limit 1)',
  uuid: 'gen_random_uuid()',
  'uuid[]': 'array[gen_random_uuid()]',
  boolean: 'not t.was_verified',
  text: `'other-' || gen_random_uuid()`,
  bytea: `sha256(random()::text::bytea)`,
  integer: '4711',
  bigint: '4711',
  'text[]': `array['https://other.example']`,
  'cidr[]': `array['0.0.0.0/1', '128.0.0.0/1']::cidr[]`,
  'timestamp with time zone': `now() + interval '1 day'`,
};

const ORIGIN = 'https://consent.example.org';

describe('rows that grant rights', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let foreign: RecordingTenant;
  beforeAll(async () => {
    app = await startApp('serve', { PUBLIC_URL: ORIGIN });
    shop = await RecordingTenant.of(app);
    foreign = await RecordingTenant.of(app);
  });
  afterAll(() => app.stop());

  const reported = async (table: SealedTable): Promise<number> => {
    const metrics = await app.service.installation.metrics.text();
    return Number(
      new RegExp(`^consent_ledger_altered_rows_total\\{table="${table}"\\} (\\d+)$`, 'm').exec(metrics)?.[1],
    );
  };
  /** Waits until no process uses what it cached of a row. */
  const afterCaches = async (condition: () => Promise<boolean>, what = ''): Promise<void> => {
    await expect.poll(condition, { interval: 100, message: what }).toBe(true);
  };

  const columnsOf = async (table: SealedTable) => {
    const { rows } = await app.superuser.query(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      [table],
    );
    return Columns.parse(rows);
  };

  it('seal every column, except those of runs and marks of use, and have triggers over the same columns', async () => {
    const { rows } = await app.superuser.query(
      `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns from pg_trigger t
         join pg_class c on c.oid = t.tgrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = any (t.tgattr)
        where t.tgname = 'changes_are_sealed' group by 1`,
    );
    const triggers = new Map(Names.parse(rows).map(({ table, columns }) => [table, columns]));
    expect([...triggers.keys()].sort()).toEqual([...TABLES].sort());
    for (const table of TABLES) {
      const columns = (await columnsOf(table)).map(({ name }) => name);
      const exempt: readonly string[] = ['seal', ...SEALED_TABLES[table].unsealed];
      expect(columns, table).toEqual(expect.arrayContaining([...exempt]));
      const bound = columns.filter((name) => !exempt.includes(name));
      expect(triggers.get(table), table).toEqual(bound);
      // Each of these columns is bound, unless it is null: then it stands in a line of its own.
      const { rows } = await app.superuser.query(
        `select ${sealed(table, 'r')} as row from (select (null::${table}).*) r`,
      );
      const [, text = ''] = new RegExp(`^ ${table} \\{\\}\\n(.*)$`).exec(rows[0]?.row) ?? [];
      expect(Object.keys(z.looseObject({}).parse(JSON.parse(text))).sort(), table).toEqual(bound.toSorted());
      // The audit compares the use of a token and the size of a package with other rows. Operators are told of the rest.
      const explained = [...Object.keys(UNCHECKED_COLUMNS[table] ?? {}), 'seal', 'consumed_by', 'bytes'];
      expect(explained, table).toEqual(expect.arrayContaining([...exempt]));
    }
  });

  it('are all sealed after every change by the service', async () => {
    const key = await shop.inSite('admin', 'POST', '/api-keys', { name: 'backend', scope: 'read' });
    const { data } = z.object({ data: z.looseObject({ id: z.uuid() }) }).parse(key.body);
    expect((await shop.inSite('admin', 'POST', `/api-keys/${data.id}/rotate`, {})).status).toBeLessThan(300);
    const settings = {
      allowed_ips: ['0.0.0.0/0'],
      allowed_origins: ['https://other.example'],
      domain: 'other.example',
    };
    expect((await foreign.inSite('admin', 'PATCH', '', settings)).status).toBe(200);
    const period = { retention_days: 400 };
    expect((await foreign.inSite('owner', 'PUT', '/retention-period', period)).status).toBe(200);
    const invited = { email: `eve-${randomUUID()}@tenant.example`, role: 'viewer' };
    expect((await foreign.as('owner', 'POST', '/invitations', invited)).status).toBe(201);
    const { rows: viewers } = await app.superuser.query(
      `select id from users where tenant_id = $1 and role = 'viewer'`,
      [foreign.backend.demo.tenant_id],
    );
    expect((await foreign.as('owner', 'POST', `/users/${viewers[0]?.id}/password-reset`, {})).status).toBe(201);
    const made = await shop.as('owner', 'POST', '/sites', { name: 'Outlet', domain: 'outlet.example' });
    const outlet = z.object({ data: z.looseObject({ id: z.uuid() }) }).parse(made.body).data.id;
    const attachment = `/documents/${shop.backend.demo.documents[0]?.id}/attachments/${outlet}`;
    for (const method of ['PUT', 'DELETE', 'PUT'])
      expect((await shop.inSite('owner', method, attachment)).status, method).toBe(200);
    for (const table of FILLED) {
      const { rows } = await app.superuser.query(
        `select count(*)::int as rows, count(*) filter (where seal is null)::int as unsealed from ${table}`,
      );
      expect(z.tuple([z.object({ rows: z.int().min(1), unsealed: z.literal(0) })]).safeParse(rows).success, table).toBe(
        true,
      );
    }
    expect((await shop.inSite('viewer', 'GET', '')).status).toBe(200);
    for (const table of TABLES) expect(await reported(table), table).toBe(0);
  });

  const granted: Readonly<Record<(typeof LASTING)[number], () => Promise<boolean>>> = {
    users: async () => (await shop.as('viewer', 'GET', '/users/me')).status !== 401,
    sign_ins: async () => (await shop.as('viewer', 'GET', '/users/me')).status !== 401,
    sites: async () =>
      (await shop.inSite('viewer', 'GET', '')).status === 200 || (await ping(shop.backend.demo.keys.read)) === 200,
    api_keys: async () => (await ping(shop.backend.demo.keys.read)) === 200,
    passkeys: async () => {
      await app.superuser.query('delete from rate_limit_windows');
      const { data } = PasskeyChallengeResponse.parse((await auth('passkeys/challenge', { for: 'sign_in' })).body);
      return (await auth('passkeys/sign-in', { passkey: authenticator.get(data) })).status === 200;
    },
  };
  const authenticator = new SoftAuthenticator(ORIGIN);
  const auth = (path: string, body: object) =>
    ask(`${app.url}/api/v1/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const ping = async (key: string): Promise<number> =>
    (await ask(`${app.url}/tool/v1/ping`, { headers: { 'x-api-key': key } })).status;
  const chosen: Readonly<Record<(typeof LASTING)[number], () => Promise<string>>> = {
    users: async () => {
      const { rows } = await app.superuser.query(`select id from users where tenant_id = $1 and role = 'viewer'`, [
        shop.backend.demo.tenant_id,
      ]);
      return z.tuple([z.object({ id: z.uuid() })]).parse(rows)[0].id;
    },
    sign_ins: async () => {
      const { rows } = await app.superuser.query(`select id from sign_ins where user_id = $1`, [await chosen.users()]);
      return z.tuple([z.object({ id: z.uuid() })]).parse(rows)[0].id;
    },
    passkeys: async () => {
      const [id, userId, rpId] = [randomUUID(), await chosen.users(), 'consent.example.org'];
      authenticator.create({ challenge: '', rp: { id: rpId }, user: { id: userHandle(userId) } });
      const values = [id, userId, authenticator.id.toString('base64url'), authenticator.coseKey, rpId];
      await app.change(
        `insert into passkeys (id, user_id, credential_id, public_key, rp_id, transports, label, was_verified, sign_count)
         values ($1, $2, $3, $4, $5, '{usb}', 'Key', true, 0)`,
        values,
      );
      await app.change('update users set passkey_ids = array[$2::uuid] where id = $1', [userId, id]);
      return id;
    },
    sites: async () => shop.siteId,
    api_keys: async () => {
      const { rows } = await app.superuser.query(
        `select id from api_keys where site_id = $1 and scope = 'read' and starts_with($2, prefix)`,
        [shop.siteId, shop.backend.demo.keys.read],
      );
      return z.tuple([z.object({ id: z.uuid() })]).parse(rows)[0].id;
    },
  };

  it.each(LASTING)('of %s grant nothing, and are reported, if any sealed column is altered by SQL', async (table) => {
    const id = await chosen[table]();
    expect(await granted[table]()).toBe(true);
    // Other rows refer to the id. The end of a sign-in changes together with its reason only.
    const left: readonly string[] = ['id', 'ended_at', 'end_reason', ...SEALED_TABLES[table].unsealed];
    const columns = (await columnsOf(table)).filter(({ name }) => !left.includes(name));
    for (const { name, type } of sampled('altered columns of granting rows', columns)) {
      const other = OTHER[`${table}.${name}`] ?? OTHER[name] ?? OTHER[type];
      if (other === undefined) throw new Error(`no other value of ${table}.${name}`);
      const before = await reported(table);
      await app.superuser.query('drop table if exists kept_row');
      await app.superuser.query(`create table kept_row as select * from ${table} where id = '${id}'`);
      await app.superuser.query(`update ${table} t set ${name} = ${other} where id = $1`, [id]);
      if (table === 'sites')
        await app.superuser.query('update sites set config_revision = config_revision + 1 where id = $1', [id]);
      await afterCaches(async () => !(await granted[table]()), `${name} is refused`);
      // A column that finds or ends a row refuses it before the seal is checked.
      const isFound = ![
        'digest',
        'revoked_at',
        'expires_at',
        'disabled_at',
        'tenant_id',
        'email',
        'credential_id',
      ].includes(name);
      if (isFound) {
        await afterCaches(async () => {
          await granted[table]();
          return (await reported(table)) > before;
        }, `${name} is reported`);
      }
      await app.superuser.query(`update ${table} t set ${name} = k.${name} from kept_row k where t.id = k.id`);
      if (table === 'sites')
        await app.superuser.query('update sites set config_revision = config_revision + 1 where id = $1', [id]);
      await afterCaches(granted[table], `${name} is restored`);
    }
    await app.superuser.query('drop table kept_row');
  });

  it.each(['invitations', 'password_resets'] as const)('of %s cannot be made by SQL', async (table) => {
    const id = randomUUID();
    const [tenantId, userId] = [shop.backend.demo.tenant_id, await chosen.users()];
    const secret = newSecretToken(table === 'invitations' ? 'invitation' : 'password reset');
    if (table === 'invitations') {
      await app.superuser.query(
        `insert into invitations (id, tenant_id, email, role, token_digest, expires_at)
         values ($1, $2, $3, 'owner', $4, now() + interval '1 day')`,
        [id, tenantId, `mallory-${id}@tenant.example`, secret.digest],
      );
    } else {
      await app.superuser.query(
        `insert into password_resets (id, user_id, token_digest, expires_at) values ($1, $2, $3, now() + interval '1 day')`,
        [id, userId, secret.digest],
      );
    }
    const before = await reported(table);
    const use = async () =>
      (
        await ask(`${app.url}/api/v1/auth/${table === 'invitations' ? 'accept-invitation' : 'reset-password'}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ token: secret.token, password: `a long password ${id}` }),
        })
      ).status;
    expect(await use()).toBeGreaterThanOrEqual(400);
    expect(await reported(table)).toBe(before + 1);
    // The same row grants its right once the service seals it: nothing else refused it.
    await app.change(`update ${table} set expires_at = expires_at where id = $1`, [id]);
    expect(await use()).toBeGreaterThanOrEqual(400);
    await app.superuser.query(`create table kept_row as select * from ${table} where id = '${id}'`);
    await app.superuser.query(`delete from ${table} where id = $1`, [id]);
    await app.change(`insert into ${table} select * from kept_row`, []);
    await app.superuser.query('drop table kept_row');
    expect(await use()).toBeLessThan(300);
  });

  it('cannot be made by SQL, nor take the seal of another row', async () => {
    const before = await reported('users');
    const email = `mallory-${randomUUID()}@tenant.example`;
    const owner = `select password_hash, seal from users where tenant_id = $1 and role = 'owner' limit 1`;
    const { rows } = await app.superuser.query(owner, [shop.backend.demo.tenant_id]);
    const [{ password_hash: hash, seal }] = z
      .tuple([z.object({ password_hash: z.string(), seal: z.instanceof(Buffer) })])
      .parse(rows);
    await app.superuser.query(
      `insert into users (id, tenant_id, email, password_hash, role, seal) values ($1, $2, $3, $4, 'owner', $5)`,
      [randomUUID(), foreign.backend.demo.tenant_id, email, hash, seal],
    );
    const answer = await ask(`${app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: 'does not matter here' }),
    });
    expect(answer.status).toBe(401);
    expect(await reported('users')).toBeGreaterThanOrEqual(before);
  });

  it('are not sealed because a setting of the database lists them', async () => {
    const id = await chosen.users();
    const { rows } = await app.superuser.query('select current_database() as name, seal from users where id = $1', [
      id,
    ]);
    const [{ name, seal }] = z.tuple([z.object({ name: z.string(), seal: z.instanceof(Buffer) })]).parse(rows);
    const listed = JSON.stringify({ table: 'users', id, before: null });
    await app.superuser.query(`update users set role = 'owner' where id = $1`, [id]);
    await app.superuser.query(`alter database "${name}" set consent_ledger.changed_rows = '${listed}'`);
    // A service that starts later has connections with the setting.
    const { config, logger } = app.service.installation;
    const later = await openInstallation(config, logger, { role: 'api', migrates: false });
    try {
      await withTransaction(later.adminPool, (db) => db.query('select'));
      const after = await app.superuser.query('select seal from users where id = $1', [id]);
      expect(after.rows).toEqual([{ seal }]);
    } finally {
      await later.close();
      await app.superuser.query(`alter database "${name}" reset consent_ledger.changed_rows`);
      await app.superuser.query(`update users set role = 'viewer' where id = $1`, [id]);
    }
  });

  it('pass on no scope that was altered when a key is rotated', async () => {
    const id = await chosen.api_keys();
    const count = async () => (await app.superuser.query('select from api_keys')).rowCount;
    const before = await count();
    await app.superuser.query(`update api_keys set scope = 'write' where id = $1`, [id]);
    expect((await shop.inSite('admin', 'POST', `/api-keys/${id}/rotate`, {})).status).toBe(404);
    expect(await count()).toBe(before);
    await app.superuser.query(`update api_keys set scope = 'read' where id = $1`, [id]);
    expect((await shop.inSite('admin', 'POST', `/api-keys/${id}/rotate`, {})).status).toBe(201);
  });

  it('stay without a seal if the service changes a row that was altered before', async () => {
    const { id } = { id: await chosen.users() };
    await app.superuser.query(`update users set role = 'dpo' where id = $1`, [id]);
    const changed = await shop.as('owner', 'PATCH', `/users/${id}`, { is_disabled: false, role: 'admin' });
    expect(changed.status).toBe(200);
    await afterCaches(async () => !(await granted.users()));
    expect(await reported('users')).toBeGreaterThan(0);
  });
});
