import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { TokensResponse } from '../../schemas/api/auth.js';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { type CommandLine, commandLine } from './command-line.js';

const Made = z.looseObject({ id: z.string() });
const MadeUser = z.object({ id: z.string(), email: z.string(), password: z.string() });
const OneTime = z.object({ data: z.looseObject({ token: z.string() }) }).transform(({ data }) => data);
const Entries = z.object({
  entries: z.array(z.looseObject({ action: z.string(), actor: z.looseObject({ kind: z.string() }) })),
});

let app: RunningApp;
let line: CommandLine;
let tenant: string;
beforeAll(async () => {
  app = await startApp('api');
  line = commandLine(app);
  tenant = Made.parse(await line.json('admin', 'tenant', 'create', '--name', 'Acme')).id;
});
afterAll(() => app.stop());

const post = (path: string, body: object) =>
  ask(`${app.url}/api/v1/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const makeUser = async (email: string, role: string) =>
  MadeUser.parse(await line.json('admin', 'user', 'create', '--tenant', tenant, '--email', email, '--role', role));

it('creates users, changes their role, disables and enables them', async () => {
  const owner = await makeUser('Owner@Acme.example', 'owner');
  const login = () => post('login', owner);
  expect((await login()).status).toBe(200);
  const last = await line.run(['admin', 'user', 'change', owner.id, '--is-disabled']);
  expect(last).toMatchObject({ exitCode: 1, stdout: '' });
  expect(last.stderr).toContain('last active owner');

  const other = await makeUser('second@acme.example', 'viewer');
  expect(await line.json('admin', 'user', 'change', other.id, '--role', 'owner')).toMatchObject({
    data: { role: 'owner' },
  });
  expect(await line.json('admin', 'user', 'change', owner.id, '--is-disabled')).toMatchObject({
    data: { is_disabled: true },
  });
  expect((await login()).status).toBe(401);
  expect(await line.json('admin', 'user', 'change', owner.id, '--no-is-disabled')).toMatchObject({
    data: { is_disabled: false },
  });
  expect((await login()).status).toBe(200);
  const { data } = z
    .object({ data: z.array(Made) })
    .parse(await line.json('admin', 'user', 'list', '--tenant', tenant));
  expect(data.map(({ id }) => id)).toEqual([other.id, owner.id]);
  expect(await line.run(['admin', 'user', 'change', tenant, '--is-disabled'])).toMatchObject({ exitCode: 1 });
  expect(await line.run(['admin', 'user', 'change', other.id, '--role', 'king'])).toMatchObject({ exitCode: 2 });
});

it('removes the second factor of a user who lost it', async () => {
  const user = await makeUser('lost@acme.example', 'viewer');
  const reset = () => line.json('admin', 'user', 'reset-second-factor', user.id);
  expect(await reset()).toMatchObject({ data: { id: user.id, has_second_factor: false } });
  await app.change(`update users set totp_secret = '\\x00', totp_confirmed_at = now() where id = $1`, [user.id]);
  expect(await post('login', user)).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' } });
  expect(await reset()).toMatchObject({ data: { id: user.id, has_second_factor: false } });
  expect((await post('login', user)).status).toBe(200);
  const { entries } = Entries.parse(await line.json('admin', 'audit-log', '--tenant', tenant));
  expect(entries.filter(({ action }) => action === 'user.reset_second_factor')).toMatchObject([
    { actor: { kind: 'operator' }, details: { changed: true } },
    { actor: { kind: 'operator' }, details: { changed: false } },
  ]);
});

it('queues the notice of a removed second factor where the service sends mail', async () => {
  const user = await makeUser('noticed@acme.example', 'viewer');
  const mail = {
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'ledger@acme.example',
    PUBLIC_URL: 'https://consent.acme.example',
  };
  const reset = async () => {
    expect(await line.run(['admin', 'user', 'reset-second-factor', user.id], mail)).toMatchObject({ exitCode: 0 });
    const { rows } = await app.superuser.query('select kind from mails');
    return rows;
  };
  expect(await reset()).toEqual([]);
  await app.change(`update users set totp_secret = '\\x00', totp_confirmed_at = now() where id = $1`, [user.id]);
  expect(await reset()).toEqual([{ kind: 'notice' }]);
});

it('prints tokens for invitations and password resets', async () => {
  const invite = ['admin', 'invitation', 'create', '--tenant', tenant, '--role', 'admin', '--email'];
  const { token } = OneTime.parse(await line.json(...invite, 'third@acme.example'));
  const accepted = await post('accept-invitation', { token, password: 'chosen by the invited' });
  const { user } = TokensResponse.parse(accepted.body).data;
  expect(user).toMatchObject({ email: 'third@acme.example', role: 'admin', tenant_id: tenant });
  expect(await line.run([...invite, 'nobody'])).toMatchObject({ exitCode: 1 });
  const reset = OneTime.parse(await line.json('admin', 'user', 'create-password-reset', user.id));
  expect(await post('reset-password', { token: reset.token, password: 'another password' })).toMatchObject({
    status: 200,
    body: { data: { ended_sign_ins: 1 } },
  });
});

it('lists and ends the sign-ins of a user', async () => {
  const made = await makeUser('fourth@acme.example', 'api_user');
  const tokens = [TokensResponse.parse((await post('login', made)).body).data];
  tokens.push(TokensResponse.parse((await post('login', made)).body).data);
  const list = async () =>
    z.object({ sign_ins: z.array(Made) }).parse(await line.json('admin', 'sign-in', 'list', '--user', made.id))
      .sign_ins;
  const [newest] = await list();
  expect(await line.json('admin', 'sign-in', 'end', '--user', made.id, '--only', newest?.id ?? '')).toMatchObject({
    ended_sign_ins: 1,
  });
  expect(await list()).toHaveLength(1);
  expect(await line.json('admin', 'sign-in', 'end', '--user', made.id)).toMatchObject({ ended_sign_ins: 1 });
  for (const { refresh_token } of tokens) expect((await post('refresh', { refresh_token })).status).toBe(401);
});

it('changes the address of a user, and releases the former one', async () => {
  const squatter = await makeUser('ceo@acme.example', 'viewer');
  const { data } = TokensResponse.parse((await post('login', squatter)).body);
  const reset = OneTime.parse(await line.json('admin', 'user', 'create-password-reset', squatter.id));
  const change = (id: string, email: string) => ['admin', 'user', 'change-email', id, '--email', email];
  expect(await line.run(change(squatter.id, 'Owner@acme.example'))).toMatchObject({ exitCode: 1, stdout: '' });
  expect(await line.run(change(squatter.id, 'nobody'))).toMatchObject({ exitCode: 1 });
  expect(await line.run(change(tenant, 'somebody@acme.example'))).toMatchObject({ exitCode: 1 });
  expect(await line.json(...change(squatter.id, 'Moved@acme.example'))).toEqual({
    id: squatter.id,
    email: 'moved@acme.example',
    ended_sign_ins: 1,
  });
  expect((await post('refresh', { refresh_token: data.refresh_token })).status).toBe(401);
  expect((await post('reset-password', { token: reset.token, password: 'another password' })).status).toBe(422);
  expect((await post('login', squatter)).status).toBe(401);
  expect((await post('login', { ...squatter, email: 'moved@acme.example' })).status).toBe(200);
  expect((await makeUser('ceo@acme.example', 'owner')).email).toBe('ceo@acme.example');
});

it('writes an audit entry without secrets and addresses for every change', async () => {
  const log = await line.json('admin', 'audit-log', '--tenant', tenant);
  const byOperator = Entries.parse(log).entries.filter(({ actor }) => actor.kind === 'operator');
  const actions = new Set(byOperator.map(({ action }) => action));
  for (const action of [
    'user.create',
    'user.change',
    'user.change_email',
    'user.create_password_reset',
    'user.end_sign_ins',
    'invitation.create',
  ]) {
    expect(actions).toContain(action);
  }
  expect(JSON.stringify(log)).not.toMatch(/acme\.example|cl[irp]_/);
});
