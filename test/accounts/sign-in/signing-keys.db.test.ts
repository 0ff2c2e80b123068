import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import type { Service } from '../../../src/app/start-service.js';
import { loadMasterKey } from '../../../src/platform/keys/index.js';
import { type PanelApp, type PanelUser, startPanel } from '../../api/panel/panel-fixture.js';
import { ask } from '../../api/server/running-app.js';
import { type CommandLine, commandLine } from '../../cli/command-line.js';
import { moveKeyTime } from '../../support/move-key-time.js';
import { startSecondProcess } from './second-process.js';

const Rotated = z.object({ key_id: z.string(), signs_in_seconds: z.int(), former_verifies_for_seconds: z.int() });
const KeyList = z.object({ keys: z.array(z.looseObject({ key_id: z.string(), state: z.string() })) });
const JwkSet = z.object({
  keys: z.array(z.object({ kid: z.string(), alg: z.literal('EdDSA'), use: z.literal('sig') })),
});

let panel: PanelApp;
let second: Service;
let line: CommandLine;
let user: PanelUser;
beforeAll(async () => {
  panel = await startPanel();
  second = await startSecondProcess(panel.app);
  line = commandLine(panel.app);
  user = panel.own.users.viewer;
});
afterAll(async () => {
  await second.stop();
  await panel.stop();
});

const urls = () => [panel.app.url, second.url];
const signIn = async (url: string) => {
  const answer = await ask(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: user.email, password: user.password }),
  });
  return TokensResponse.parse(answer.body).data;
};
const signedBy = async (url: string) => decodeProtectedHeader((await signIn(url)).access_token).kid;
const statusOf = async (url: string, token: string) =>
  (await ask(`${url}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status;
const published = async (url: string) =>
  JwkSet.parse((await ask(`${url}/.well-known/jwks.json`)).body).keys.map(({ kid }) => kid);
const states = async () =>
  new Map(KeyList.parse(await line.json('admin', 'sign-in', 'list-keys')).keys.map((key) => [key.key_id, key.state]));
const rotate = async (...options: string[]) =>
  Rotated.parse(await line.json('admin', 'sign-in', 'rotate-key', ...options));
const moveTime = async (keyId: string, column: 'signs_from' | 'verifies_until') =>
  moveKeyTime(panel.app.superuser, await loadMasterKey(panel.app.service.installation.config.masterKey), keyId, column);

it('replaces the key in every process without a restart, and trusts the old key until its tokens expire', async () => {
  const { access_token: early } = await signIn(panel.app.url);
  const old = decodeProtectedHeader(early).kid ?? '';
  const rotated = await rotate();
  expect(rotated).toMatchObject({ signs_in_seconds: 600, former_verifies_for_seconds: 1560 });
  for (const url of urls()) {
    await expect.poll(() => published(url)).toEqual([rotated.key_id, old]);
    expect(await signedBy(url)).toBe(old);
    expect(await statusOf(url, early)).toBe(200);
  }
  expect(Object.fromEntries(await states())).toEqual({ [rotated.key_id]: 'published', [old]: 'signing' });

  // Simulates the ten minutes until the new key signs.
  await moveTime(rotated.key_id, 'signs_from');
  for (const url of urls()) {
    await expect.poll(() => signedBy(url)).toBe(rotated.key_id);
    expect(await statusOf(url, early)).toBe(200);
  }
  const { access_token: late } = await signIn(second.url);
  for (const url of urls()) expect(await statusOf(url, late)).toBe(200);
  expect(Object.fromEntries(await states())).toEqual({ [rotated.key_id]: 'signing', [old]: 'verifying' });

  // Simulates the expiry of every token by the old key.
  await moveTime(old, 'verifies_until');
  for (const url of urls()) {
    await expect.poll(() => statusOf(url, early)).toBe(401);
    await expect.poll(() => published(url)).toEqual([rotated.key_id]);
    expect(await statusOf(url, late)).toBe(200);
  }
  expect((await states()).get(old)).toBe('expired');
});

it('stops trusting a compromised key within seconds, and keeps all users signed in', async () => {
  const { access_token, refresh_token } = await signIn(panel.app.url);
  const { key_id } = await rotate('--at-once');
  for (const url of urls()) {
    await expect.poll(() => statusOf(url, access_token)).toBe(401);
    await expect.poll(() => signedBy(url)).toBe(key_id);
    await expect.poll(() => published(url)).toEqual([key_id]);
  }
  const renewed = await ask(`${second.url}/api/v1/auth/refresh`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token }),
  });
  const token = TokensResponse.parse(renewed.body).data.access_token;
  for (const url of urls()) await expect.poll(() => statusOf(url, token)).toBe(200);
});

it('publishes the keys that verify access tokens', async () => {
  const { access_token } = await signIn(panel.app.url);
  const keys = createRemoteJWKSet(new URL(`${second.url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(access_token, keys, { issuer: 'consent-ledger', typ: 'at+jwt' });
  expect(payload.sub).toBe(user.id);
});

it('keeps one signing key after concurrent replacements', async () => {
  const { access_token } = await signIn(panel.app.url);
  const signing = decodeProtectedHeader(access_token).kid ?? '';
  const made = await Promise.all([rotate(), rotate(), rotate()]);
  const { rows } = await panel.app.superuser.query(
    `select key_id from keyring where purpose = 'jwt' and retired_at is null`,
  );
  expect(rows).toHaveLength(1);
  expect(await signedBy(second.url)).toBe(signing);
  await expect
    .poll(async () => new Set(await published(second.url)))
    .toEqual(new Set([signing, ...made.map(({ key_id }) => key_id)]));
});

it('records in the audit log of the installation who replaced a key', async () => {
  const { rows } = await panel.app.superuser.query(
    `select actor_kind, details from audit_log where action = 'sign_in.rotate_key' and tenant_id is null order by seq`,
  );
  expect(rows.map(({ actor_kind }) => actor_kind)).toEqual(Array(5).fill('operator'));
  expect(rows.map(({ details }) => details.at_once)).toEqual([false, true, false, false, false]);
});

it('does not trust an expired key again whose time was moved by SQL, and reports it', async () => {
  const { rows } = await panel.app.superuser.query(
    `update keyring set verifies_until = now() + interval '10 years'
      where key_id = (select key_id from keyring where verifies_until <= now() limit 1) returning key_id`,
  );
  const altered = rows[0]?.key_id;
  expect(altered).toMatch(/^jwt-/);
  const reported = async () => {
    await published(panel.app.url);
    return panel.app.service.installation.metrics.text();
  };
  await expect.poll(reported).toMatch(/altered_rows_total\{table="keyring"\} [1-9]/);
  await expect.poll(() => published(panel.app.url)).not.toContain(altered);
});
