import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { AuthOptionsResponse } from '../../../schemas/api/auth.js';
import { PasskeyAddedResponse, PasskeyBegunResponse } from '../../../schemas/api/passkeys.js';
import { createMailQueue } from '../../../src/accounts/mail/mail-queue.js';
import {
  createSmtpTransport,
  MailFailed,
  MailRefused,
  type MailTransport,
} from '../../../src/accounts/mail/smtp-transport.js';
import { type PanelApp, type PanelTenant, startPanel } from '../../api/panel/panel-fixture.js';
import { type Answer, ask } from '../../api/server/running-app.js';
import { type ReceivedMail, startMailServer, type TestMailServer } from '../../support/mail-server.js';
import { SoftAuthenticator } from '../../support/soft-authenticator.js';
import { until } from '../../support/wait.js';

const AddressInUse = z.object({ port: z.int() });
const PUBLIC_URL = 'https://consent.example.org';
let server: TestMailServer;
let panel: PanelApp;
let tenant: PanelTenant;

beforeAll(async () => {
  server = await startMailServer();
  panel = await startPanel('serve', {
    SMTP_URL: server.url,
    MAIL_FROM: 'Ledger <ledger@example.org>',
    PUBLIC_URL,
    SIGN_UP: 'open',
  });
});
afterAll(async () => {
  await panel.stop();
  await server.close();
});
beforeEach(async () => {
  await panel.app.superuser.query('delete from rate_limit_windows');
  tenant = await panel.makeTenant();
});

const post = (path: string, body: object): Promise<Answer> =>
  ask(`${panel.app.url}/api/v1/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const mailsTo = (address: string, subject: RegExp): readonly ReceivedMail[] =>
  server.mails.filter(({ to, text }) => to.includes(address) && subject.test(/^Subject: (.*)$/m.exec(text)?.[1] ?? ''));
const received = (address: string, subject: RegExp): Promise<ReceivedMail> => until(() => mailsTo(address, subject)[0]);
const receivedText = (address: string, words: RegExp): Promise<ReceivedMail> =>
  until(() => server.mails.find(({ to, text }) => to.includes(address) && words.test(text)));
const tokenIn = ({ text }: ReceivedMail, page: string): string => {
  const [, token = ''] = new RegExp(`${PUBLIC_URL}/panel/${page}#token=(\\S+)`).exec(text) ?? [];
  return token;
};
const waiting = async (): Promise<number> =>
  z
    .tuple([z.object({ n: z.int() })])
    .parse((await panel.app.superuser.query('select count(*)::int as n from mails')).rows)[0].n;
const newAddress = (): string => `new-${randomUUID()}@invited.example`;

describe('a service that sends mail', () => {
  it('says so', async () => {
    const { body } = await ask(`${panel.app.url}/api/v1/auth/options`);
    expect(AuthOptionsResponse.parse(body).data.mail).toBe(true);
  });

  it('sends an invitation to the invited address alone, and no token to the inviting user', async () => {
    const email = newAddress();
    const made = await panel.as(tenant.users.owner, 'POST', '/invitations', { email, role: 'viewer' });
    expect(made).toMatchObject({ status: 201, body: { data: { email, token: null } } });
    const mail = await received(email, /Your invitation to consent.example.org/);
    expect(mail).toMatchObject({ from: 'ledger@example.org', to: [email] });
    expect(mail.text).toContain(`${tenant.users.owner.email} invited you`);
    expect(mail.text).toMatch(/^From: Ledger <ledger@example.org>\r$/m);
    expect(mail.text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    const accepted = await post('accept-invitation', {
      token: tokenIn(mail, 'accept-invitation'),
      password: 'a horse that staples batteries',
    });
    expect(accepted.status).toBe(201);
  });

  it('sends the reset of an admin to the user, and tells the user of the new password', async () => {
    const { owner, viewer } = tenant.users;
    const made = await panel.as(owner, 'POST', `/users/${viewer.id}/password-reset`);
    expect(made).toMatchObject({ status: 201, body: { data: { token: null } } });
    const mail = await received(viewer.email, /Set a new password/);
    const password = 'a staple that horses do not know';
    expect((await post('reset-password', { token: tokenIn(mail, 'reset-password'), password })).status).toBe(200);
    await received(viewer.email, /Your password was changed/);
    expect((await panel.signIn(viewer.email, password)).status).toBe(200);
  });

  it('writes in the language of the request', async () => {
    const { viewer, owner } = tenant.users;
    const turkish = { 'content-type': 'application/json', 'accept-language': 'tr-TR,tr;q=0.9,en;q=0.8' };
    const asked = await ask(`${panel.app.url}/api/v1/auth/request-password-reset`, {
      method: 'POST',
      headers: turkish,
      body: JSON.stringify({ email: viewer.email }),
    });
    expect(asked.status).toBe(202);
    const reset = await receivedText(viewer.email, /hesabınız için yeni bir parola istendi/);
    expect(tokenIn(reset, 'reset-password')).toMatch(/^clp_/);
    const email = newAddress();
    const invited = await ask(`${panel.app.url}/api/v1/invitations`, {
      method: 'POST',
      headers: { ...turkish, authorization: `Bearer ${owner.accessToken}` },
      body: JSON.stringify({ email, role: 'viewer' }),
    });
    expect(invited.status).toBe(201);
    const invitation = await receivedText(email, /hizmetine davet etti/);
    expect(tokenIn(invitation, 'accept-invitation')).toMatch(/^cli_/);
  });

  it('tells panel users of a sign-in, and backends not', async () => {
    await received(tenant.users.dpo.email, /New sign-in at consent.example.org/);
    // Signed in before the owner of the next tenant, whose mail arrives.
    const { api_user } = tenant.users;
    await received((await panel.makeTenant()).users.owner.email, /New sign-in/);
    expect(mailsTo(api_user.email, /./)).toEqual([]);
  });

  it('tells a user of a passkey that was added or removed, or stays after a new password', async () => {
    const { viewer } = tenant.users;
    const { password: current_password } = viewer;
    const authenticator = new SoftAuthenticator('https://consent.example.org');
    const begun = await panel.as(viewer, 'POST', '/auth/passkeys', { current_password });
    const passkey = authenticator.create(PasskeyBegunResponse.parse(begun.body).data);
    const added = await panel.as(viewer, 'POST', '/auth/passkeys/confirm', { label: 'Laptop', passkey });
    await received(viewer.email, /A passkey was added at consent.example.org/);
    const changed = { current_password, new_password: 'a staple that horses do not know' };
    expect((await panel.as(viewer, 'POST', '/auth/change-password', changed)).status).toBe(200);
    await receivedText(viewer.email, /1 passkey of the account can still be used/);
    const { data } = PasskeyAddedResponse.parse(added.body);
    const proof = { current_password: changed.new_password, recovery_code: data.recovery_codes?.[0] };
    expect((await panel.as(viewer, 'POST', `/auth/passkeys/${data.passkey.id}/remove`, proof)).status).toBe(200);
    await received(viewer.email, /A passkey was removed at consent.example.org/);
    await received(viewer.email, /A recovery code was used/);
  });

  it('answers requests of a new password alike for every address, and mails only users, once', async () => {
    const { viewer, dpo } = tenant.users;
    await panel.app.change('update users set disabled_at = now() where id = $1', [dpo.id]);
    const known = await post('request-password-reset', { email: viewer.email.toUpperCase() });
    const unknown = await post('request-password-reset', { email: newAddress() });
    const disabled = await post('request-password-reset', { email: dpo.email });
    expect(known.status).toBe(202);
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    expect([disabled.status, disabled.body]).toEqual([known.status, known.body]);
    const mail = await received(viewer.email, /Set a new password/);
    await post('request-password-reset', { email: viewer.email });
    await until(async () => (await waiting()) === 0);
    expect(mailsTo(viewer.email, /Set a new password/)).toHaveLength(1);
    expect(mailsTo(dpo.email, /Set a new password/)).toEqual([]);
    const token = tokenIn(mail, 'reset-password');
    expect((await post('reset-password', { token, password: 'a staple that horses do not know' })).status).toBe(200);
    const log = await panel.as(tenant.users.owner, 'GET', '/audit-log?action=user.create_password_reset');
    expect(log.body).toMatchObject({
      data: [{ actor: { kind: 'service' }, subject: { id: viewer.id }, details: { reason: 'requested_by_mail' } }],
    });
  });

  it('limits requests of a new password by account', async () => {
    const email = newAddress();
    const answers = [];
    for (let i = 0; i < 7; i += 1) answers.push(await post('request-password-reset', { email }));
    // A minute may end meanwhile.
    expect(answers.filter(({ status }) => status === 202).length).toBeLessThanOrEqual(6);
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_SIGN_IN_ATTEMPTS' } });
  });

  it('confirms the address of a sign-up by mail, and tells a user instead that there is an account', async () => {
    const email = newAddress();
    const known = await post('sign-up', { organisation: 'Other', email: tenant.users.viewer.email });
    const asked = await post('sign-up', { organisation: 'Shop Ltd', email: email.toUpperCase() });
    expect([asked.status, asked.body]).toEqual([known.status, known.body]);
    expect(asked).toMatchObject({ status: 202, body: { data: { token: null } } });
    const mail = await received(email, /Complete your sign-up/);
    expect((await received(tenant.users.viewer.email, /You have an account/)).text).not.toContain('token=');
    const token = tokenIn(mail, 'confirm-sign-up');
    const password = 'a horse that staples batteries';
    expect(await post('confirm-sign-up', { token, password })).toMatchObject({
      status: 201,
      body: { data: { user: { email, role: 'owner' } } },
    });
    await post('sign-up', { organisation: 'Shop Ltd', email });
    await until(async () => (await waiting()) === 0);
    expect(mailsTo(email, /sign-up|account/)).toHaveLength(1);
  });

  it('refuses a sign-up while too many mails wait, and makes no pause for the address', async () => {
    const { superuser } = panel.app;
    const email = newAddress();
    await superuser.query(
      `insert into mails (id, kind, content, expires_at, next_attempt_at)
         select gen_random_uuid(), 'sign_up', '\\x00', now() + interval '1 day', now() + interval '1 day'
           from generate_series(1, 10000)`,
    );
    try {
      expect(await post('sign-up', { organisation: 'Shop Ltd', email })).toMatchObject({
        status: 503,
        body: { code: 'SERVICE_UNAVAILABLE' },
      });
    } finally {
      await superuser.query(`delete from mails where kind = 'sign_up'`);
    }
    expect((await post('sign-up', { organisation: 'Shop Ltd', email })).status).toBe(202);
    await received(email, /Complete your sign-up/);
  });

  it('invites no more than 100 people of a tenant a day', async () => {
    await panel.app.superuser.query(
      `insert into invitations (id, tenant_id, email, role, token_digest, expires_at)
         select gen_random_uuid(), $1, 'a' || n || '@x.example', 'viewer', sha256((random()::text || n)::bytea), now() from generate_series(1, 100) n`,
      [tenant.id],
    );
    const email = newAddress();
    expect(await panel.as(tenant.users.owner, 'POST', '/invitations', { email, role: 'viewer' })).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMIT_EXCEEDED' },
    });
  });

  it('tries again after a temporary refusal, and keeps the mail encrypted until then', async () => {
    await until(async () => (await waiting()) === 0);
    server.answerRecipientsWith(451);
    try {
      const email = newAddress();
      await panel.as(tenant.users.owner, 'POST', '/invitations', { email, role: 'viewer' });
      const Rows = z.array(z.object({ content: z.instanceof(Buffer) }));
      const row = await until(
        async () =>
          Rows.parse((await panel.app.superuser.query('select content from mails where attempts = 1')).rows)[0],
      );
      expect(row.content.toString('latin1')).not.toMatch(/invited\.example|cli_/);
      await until(() => panel.app.log().includes('a mail was not sent'));
      server.answerRecipientsWith(250);
      await panel.app.superuser.query('update mails set next_attempt_at = now()');
      await received(email, /Your invitation/);
    } finally {
      server.answerRecipientsWith(250);
    }
  });

  it('drops a mail that the server refuses for good, and one whose row was altered', async () => {
    await until(async () => (await waiting()) === 0);
    server.answerRecipientsWith(550);
    try {
      await panel.as(tenant.users.owner, 'POST', '/invitations', { email: newAddress(), role: 'viewer' });
      await until(() => panel.app.log().includes('response 550'));
      await until(async () => (await waiting()) === 0);
    } finally {
      server.answerRecipientsWith(250);
    }
    await panel.app.superuser.query(
      `insert into mails (id, kind, content, expires_at) values (gen_random_uuid(), 'notice', '\\x0102', now() + interval '1 hour')`,
    );
    await until(() => panel.app.log().includes('the row was altered'));
    expect(await waiting()).toBe(0);
  });

  it('drops a mail that waited too long', async () => {
    const { adminPool, keyring } = panel.app.service.installation;
    const to = newAddress();
    const client = await adminPool.connect();
    try {
      await client.query('begin');
      await createMailQueue(keyring)(client, { kind: 'notice', to, notice: 'signed_in', at: '2026-01-01T00:00:00Z' });
      await client.query('commit');
    } finally {
      client.release();
    }
    await received(to, /New sign-in/);
    server.answerRecipientsWith(451);
    try {
      await createMailQueue(keyring)(adminPool, {
        kind: 'notice',
        to,
        notice: 'password_changed',
        at: '2026-01-01T00:00:00Z',
      });
      await panel.app.superuser.query('update mails set expires_at = now()');
      await until(async () => {
        await panel.app.superuser.query('update mails set next_attempt_at = now()');
        return panel.app.log().includes('it waited too long');
      });
    } finally {
      server.answerRecipientsWith(250);
    }
    expect(mailsTo(to, /Your password/)).toEqual([]);
  });

  it('logs neither addresses nor tokens', () => {
    expect(server.mails.length).toBeGreaterThan(5);
    expect(panel.app.log()).not.toMatch(/@\w|clp_|cli_/);
  });
});

describe('the transport', () => {
  const mail = { to: 'a@person.example', subject: 'Hello', text: 'Text' };
  const signal = new AbortController().signal;
  const sentAs = (id: string) => server.mails.filter(({ text }) => text.includes(`<${id}@example.org>`));
  const opened: MailTransport[] = [];
  const transportTo = (url: string, demandsTls = false): MailTransport => {
    const transport = createSmtpTransport({
      smtp: { host: '127.0.0.1', port: Number(new URL(url).port), isTlsFromStart: false, demandsTls, auth: undefined },
      from: { name: 'Ledger', address: 'ledger@example.org' },
      publicUrl: PUBLIC_URL,
    });
    opened.push(transport);
    return transport;
  };
  afterEach(() => {
    for (const transport of opened.splice(0)) transport.close();
  });

  it('sends several mails over one connection, and ends it when it is closed', async () => {
    const transport = transportTo(server.url);
    const before = server.connections();
    for (const id of [randomUUID(), randomUUID(), randomUUID()]) {
      await transport.send(id, mail, signal);
      expect(sentAs(id)).toHaveLength(1);
    }
    expect(server.connections()).toBe(before + 1);
    transport.close();
    await expect(transport.send(randomUUID(), mail, signal)).rejects.toThrow(MailFailed);
  });

  it('lets no value add a header or a recipient', async () => {
    const id = randomUUID();
    const to = 'a@person.example\r\nBcc: b@person.example';
    await expect(transportTo(server.url).send(id, { ...mail, to }, signal)).rejects.toThrow(MailRefused);
    expect(sentAs(id)).toEqual([]);
    await transportTo(server.url).send(id, { ...mail, subject: 'Hello\r\nX-Evil: 2' }, signal);
    expect(sentAs(id)).toHaveLength(1);
    expect(sentAs(id)[0]?.text).not.toMatch(/^X-Evil:/im);
  });

  it('sends nothing without TLS where TLS is required', async () => {
    const id = randomUUID();
    await expect(transportTo(server.url, true).send(id, mail, signal)).rejects.toThrow(MailFailed);
    expect(sentAs(id)).toEqual([]);
  });

  it('stops an attempt at a silent server as soon as it is told to', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = AddressInUse.parse(silent.address());
    const controller = new AbortController();
    silent.once('connection', (socket) => {
      socket.on('error', () => undefined);
      controller.abort();
    });
    const sending = transportTo(`smtp://127.0.0.1:${port}`).send(randomUUID(), mail, controller.signal);
    // Not ETIMEDOUT, which comes after ten seconds.
    await expect(sending).rejects.toThrow('EABORT at the connection');
    await new Promise((resolve) => silent.close(resolve));
  });

  it('distinguishes a permanent refusal from a temporary one, without an address', async () => {
    server.answerRecipientsWith(550);
    await expect(transportTo(server.url).send(randomUUID(), mail, signal)).rejects.toThrow(MailRefused);
    server.answerRecipientsWith(450);
    const failure = transportTo(server.url).send(randomUUID(), mail, signal);
    await expect(failure).rejects.toThrow(MailFailed);
    await expect(failure).rejects.not.toThrow(/@/);
    server.answerRecipientsWith(250);
  });
});
