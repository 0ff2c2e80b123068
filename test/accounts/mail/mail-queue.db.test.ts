import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MailJob, NewMailJob } from '../../../src/accounts/mail/mail-job.js';
import { claimMail, createMailQueue, type MailNetwork } from '../../../src/accounts/mail/mail-queue.js';
import { createMailer } from '../../../src/accounts/mail/mailer-part.js';
import { requestSignUp } from '../../../src/accounts/sign-up/request-sign-up.js';
import { Looks } from '../../../src/platform/background/waiting.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/wait.js';

const keys = { accountKey: async () => Buffer.alloc(32, 7) };
const queueMail = createMailQueue(keys);
const KINDS = ['password_reset', 'reset_request', 'notice', 'invitation', 'sign_up'] as const;
const at = '2026-01-01T00:00:00Z';
let database: TestDatabase;
let api: pg.Pool;
let admin: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  const options = { url: database.url, applicationName: 'mail test', maxConnections: 8, statementTimeoutMs: 30_000 };
  api = createPool({ ...options, role: 'consent_ledger_api', onIdleError: () => undefined });
  admin = createPool({ ...options, role: 'consent_ledger_admin', onIdleError: () => undefined });
});
afterAll(async () => {
  await Promise.all([api.end(), admin.end()]);
  await database.drop();
});
beforeEach(async () => {
  await admin.query('delete from mails');
});

const signUp = (to: string): NewMailJob => ({ kind: 'sign_up', to, token: 't', expires_at: at });
const notice = (to: string): NewMailJob => ({ kind: 'notice', to, notice: 'signed_in', at });
const queue = (job: NewMailJob, network: MailNetwork): Promise<boolean> => queueMail(api, job, network);
const claimed = async (kinds: readonly MailJob['kind'][] = KINDS): Promise<string | null> => {
  const mail = await claimMail(admin, keys, kinds);
  if (mail === null || mail.job === null) return null;
  return 'email' in mail.job ? mail.job.email : mail.job.to;
};
const claimAll = async (): Promise<string[]> => {
  const all: string[] = [];
  for (let one = await claimed(); one !== null; one = await claimed()) all.push(one);
  return all;
};
/** Adds copies of the mails of a kind that wait, each of as many networks of its own, if `isOfOthers`. */
const multiply = (kind: string, times: number, isOfOthers: boolean) =>
  admin.query(
    `insert into mails (id, kind, content, expires_at, network_digest, turn)
       select gen_random_uuid(), kind, content, expires_at, case when $3 then sha256(int4send(n)) else network_digest end,
              case when $3 then 0 else n end
         from (select * from mails where kind = $1 order by turn limit 1) one, generate_series(1, $2) n`,
    [kind, times, isOfOthers],
  );

describe('the queue of mails', () => {
  it('takes resets and notices before the sign-ups that came first', async () => {
    for (let i = 0; i < 20; i += 1) await queue(signUp(`flood-${i}@x.example`), `net-${i}`);
    await queue(notice('user@x.example'), 'net-1');
    await queue({ kind: 'reset_request', email: 'reset@x.example' }, 'net-1');
    expect((await claimAll()).slice(0, 3)).toEqual(['reset@x.example', 'user@x.example', 'flood-0@x.example']);
  });

  it.each(['sign_up', 'reset_request'] as const)('takes the networks of %s in turn', async (kind) => {
    const job = (to: string): NewMailJob => (kind === 'sign_up' ? signUp(to) : { kind, email: to });
    for (let i = 0; i < 6; i += 1) await queue(job(`a${i}@x.example`), 'flood');
    expect([await claimed(), await claimed()]).toEqual(['a0@x.example', 'a1@x.example']);
    for (const name of ['b0', 'b1']) await queue(job(`${name}@x.example`), 'second');
    await queue(job('c0@x.example'), 'third');
    const order = (await claimAll()).map((to) => to.slice(0, 2));
    expect(order).toEqual(['a2', 'b0', 'c0', 'a3', 'b1', 'a4', 'a5']);
  });

  it('tries a mail that failed again behind the others of its network', async () => {
    for (const name of ['a0', 'a1', 'a2']) await queue(signUp(`${name}@x.example`), 'one');
    expect(await claimed()).toBe('a0@x.example');
    await admin.query('update mails set next_attempt_at = now()');
    expect(await claimAll()).toEqual(['a1@x.example', 'a2@x.example', 'a0@x.example']);
  });

  it('refuses the mails of a network with many, and takes those of others', async () => {
    await queue(signUp('a@flood.example'), 'flood');
    await multiply('sign_up', 907, false);
    expect(await queue(signUp('b@flood.example'), 'flood')).toBe(true);
    expect(await queue(signUp('c@flood.example'), 'flood')).toBe(false);
    expect(await queue(signUp('a@honest.example'), 'honest')).toBe(true);
    expect(await queue(notice('user@flood.example'), 'flood')).toBe(true);
    await multiply('sign_up', 9_000, true);
    expect(await queue(signUp('a@late.example'), 'late')).toBe(true);
    expect(await queue(signUp('b@honest.example'), 'honest')).toBe(true);
    await multiply('sign_up', 100, true);
    expect(await queue(signUp('a@last.example'), 'last')).toBe(false);
  });

  it('holds one request for a new password for an address, and the last mail with a token', async () => {
    const asked = [1, 2, 3].map(() => queue({ kind: 'reset_request', email: 'user@x.example' }, randomBytes(32)));
    expect(await Promise.all(asked)).toEqual([true, true, true]);
    await queue({ kind: 'reset_request', email: 'USER@x.example' }, 'b');
    await queue({ kind: 'reset_request', email: 'other@x.example' }, 'b');
    for (const token of ['first', 'second'])
      await queueMail(admin, { kind: 'password_reset', to: 'user@x.example', token, expires_at: at }, 'b');
    const kinds = (await admin.query('select kind from mails order by kind')).rows;
    expect(kinds).toEqual([{ kind: 'password_reset' }, { kind: 'reset_request' }, { kind: 'reset_request' }]);
    expect((await claimMail(admin, keys, KINDS))?.job).toMatchObject({ token: 'second' });
  });

  it('sends one mail of a sign-up to all subaddresses of a mailbox', async () => {
    const ask = (email: string) =>
      requestSignUp(api, keys, queueMail, { organisation: 'Shop', email, network: 'one', proof: undefined });
    for (const email of ['a+1@x.example', 'a@x.example', 'a+1+2@x.example', '+@x.example', 'b+@x.example'])
      expect(await ask(email)).toBeNull();
    expect(await claimAll()).toEqual(['a+1@x.example', '+@x.example', 'b+@x.example']);
  });

  it('delivers a notice while the server keeps every sign-up waiting', async () => {
    for (let i = 0; i < 8; i += 1) await queue(signUp(`flood-${i}@x.example`), `net-${i}`);
    const [sent, ended] = [[] as string[], new AbortController()];
    const mailer = createMailer({
      db: admin,
      keys,
      publicUrl: 'https://consent.example.org',
      onResetRequest: async () => undefined,
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
      looks: new Looks(admin, 10),
      openTransport: () => ({
        send: async (_id, { to }, signal) => {
          sent.push(to);
          signal.throwIfAborted();
          if (to.startsWith('flood'))
            await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
        close: () => undefined,
      }),
    });
    const running = mailer.run(ended.signal);
    await until(() => sent.length >= 3);
    await queue(notice('user@x.example'), 'net-1');
    await until(() => sent.length >= 4);
    ended.abort(new Error('the test ended'));
    await running;
    expect(sent).toContain('user@x.example');
  });
});
