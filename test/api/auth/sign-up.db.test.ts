import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { AuthOptionsResponse, SignUpRequestedResponse, TokensResponse } from '../../../schemas/api/auth.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { bitsOfChallenge, leadingZeroBits } from '../../../schemas/crypto/proof-of-work.js';
import { newSignUpToken, requireWork, type WantedAccount } from '../../../src/accounts/sign-up/request-sign-up.js';
import { RequestRefused } from '../../../src/platform/errors.js';
import { type Answer, ask, type RunningApp, startApp } from '../server/running-app.js';

const PASSWORD = 'a horse that staples batteries';
let app: RunningApp;

/** Completes a challenge. */
function proofOf(challenge: string): string {
  for (let counter = 0; ; counter += 1) {
    const proof = `${challenge}.${counter}`;
    if (leadingZeroBits(sha256(Buffer.from(proof))) >= (bitsOfChallenge(challenge) ?? 0)) return proof;
  }
}

/** @param address of the client */
const post = (path: string, body: object, address = '192.0.2.1'): Promise<Answer> =>
  ask(`${app.url}/api/v1/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify(body),
  });
const newAddress = (): string => `owner-${randomUUID()}@shop.example`;
const options = async () => AuthOptionsResponse.parse((await ask(`${app.url}/api/v1/auth/options`)).body).data;

describe('an installation with open sign-up and without mail', () => {
  beforeAll(async () => {
    app = await startApp('api', { SIGN_UP: 'open', TRUSTED_PROXIES: '127.0.0.1' });
  });
  beforeEach(async () => {
    await app.superuser.query('delete from rate_limit_windows');
  });
  afterAll(() => app.stop());

  const signUp = async (email: string, organisation = 'Shop Ltd'): Promise<string> => {
    const answer = await post('sign-up', { organisation, email });
    expect(answer.status).toBe(202);
    return SignUpRequestedResponse.parse(answer.body).data.token ?? '';
  };
  const tokenOf = (wanted: Partial<WantedAccount>): Promise<string> =>
    newSignUpToken(app.service.installation.keyring, {
      organisation: 'Shop Ltd',
      email: newAddress(),
      expires_at: '2999-01-01T00:00:00Z',
      ...wanted,
    });
  const invalid = { status: 422, body: { code: 'SIGN_UP_INVALID' } };

  it('creates a tenant with a plan that can record, and its owner, signed in', async () => {
    expect(await options()).toEqual({ mail: false, sign_up: 'open', passkeys: false });
    const email = newAddress();
    const confirmed = await post('confirm-sign-up', { token: await signUp(email.toUpperCase()), password: PASSWORD });
    expect(confirmed.status).toBe(201);
    const { access_token, user } = TokensResponse.parse(confirmed.body).data;
    expect(user).toMatchObject({ email, role: 'owner' });
    const get = (path: string) =>
      ask(`${app.url}/api/v1${path}`, { headers: { authorization: `Bearer ${access_token}` } });
    expect((await get('/tenants')).body).toMatchObject({ data: [{ id: user.tenant_id, name: 'Shop Ltd' }] });
    expect((await get('/subscription')).body).toMatchObject({ data: { name: 'standard', is_active: true } });
    expect((await get('/audit-log?action=tenant.sign_up')).body).toMatchObject({
      data: [{ actor: { user_id: user.id }, subject: { kind: 'tenant', id: user.tenant_id } }],
    });
    expect((await post('login', { email, password: PASSWORD })).status).toBe(200);
  });

  it('uses a token once, also among requests at once, and for an address without a user only', async () => {
    const email = newAddress();
    const [token, other] = [await signUp(email), await signUp(email, 'Another')];
    const answers = await Promise.all(
      [token, token, other].map((one) => post('confirm-sign-up', { token: one, password: PASSWORD })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect(await post('confirm-sign-up', { token: await signUp(email), password: PASSWORD })).toMatchObject(invalid);
    const { rows } = await app.superuser.query(
      'select from tenants t where not exists (select from users where tenant_id = t.id)',
    );
    expect(rows).toEqual([]);
  });

  it('refuses tokens that expired or that the service did not make', async () => {
    const expired = await tokenOf({ expires_at: new Date(Date.now() - 1).toISOString() });
    const right = await tokenOf({});
    const altered = `${right.slice(0, -2)}${right.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const token of [expired, altered, 'cls_', 'cls_AXq2', 'cli_x']) {
      expect(await post('confirm-sign-up', { token, password: PASSWORD }), token).toMatchObject(invalid);
    }
    expect((await post('confirm-sign-up', { token: right, password: PASSWORD })).status).toBe(201);
  });

  it('checks organisation, address and password', async () => {
    const email = newAddress();
    for (const [body, field] of [
      [{ organisation: 'Shop\nLtd', email }, 'organisation'],
      [{ organisation: '', email }, 'organisation'],
      [{ organisation: 'Shop', email: 'nobody' }, 'email'],
      [{ organisation: 'Shop', email: `${email}\r\nBcc: a@b.example` }, 'email'],
    ] as const) {
      expect(await post('sign-up', body)).toMatchObject({ status: 422, body: { errors: [{ field }] } });
    }
    const token = await signUp(email);
    for (const password of ['short', email]) {
      expect(await post('confirm-sign-up', { token, password })).toMatchObject({
        status: 422,
        body: { code: 'VALIDATION_ERROR', errors: [{ field: 'password' }] },
      });
    }
  });

  it('limits sign-ups by address and by e-mail address, and says so', async () => {
    const tokens = await Promise.all(Array.from({ length: 12 }, () => tokenOf({})));
    const confirmed = [];
    for (const token of tokens) confirmed.push((await post('confirm-sign-up', { token, password: PASSWORD })).status);
    // A minute may end meanwhile.
    expect(confirmed.filter((status) => status === 201).length).toBeLessThanOrEqual(10);
    expect(confirmed.at(-1)).toBe(429);
    const asked: Answer[] = [];
    for (let i = 0; i < 12; i += 1) {
      const email = `owner${i === 0 ? '' : `+${i}`}@limited.example`;
      asked.push(await post('sign-up', { organisation: 'Shop', email }, `192.0.2.${i}`));
    }
    expect(asked.filter(({ status }) => status === 202 || status === 422).length).toBeLessThanOrEqual(10);
    expect(asked.at(-1)).toMatchObject({
      status: 429,
      body: { code: 'TOO_MANY_SIGN_IN_ATTEMPTS', message: expect.stringContaining('to sign up') },
    });
  });
});

const Required = z.object({ code: z.literal('PROOF_OF_WORK_REQUIRED'), challenge: z.string() });

describe('an installation where many addresses signed up', () => {
  beforeAll(async () => {
    app = await startApp('api', { SIGN_UP: 'open', TRUSTED_PROXIES: '127.0.0.1' });
  });
  beforeEach(async () => {
    await app.superuser.query('delete from rate_limit_windows');
  });
  afterAll(() => app.stop());

  const signedUp = async (addresses: number): Promise<void> => {
    await app.superuser.query('delete from sign_up_requests');
    await app.superuser.query(
      `insert into sign_up_requests (address_digest) select sha256(int4send(n)) from generate_series(1, $1) n`,
      [addresses],
    );
  };
  const signUp = (email: string, proof?: string): Promise<Answer> =>
    post('sign-up', { organisation: 'Shop', email, proof_of_work: proof });
  const challengeFor = async (email: string): Promise<string> => {
    const answer = await signUp(email);
    expect(answer.status).toBe(422);
    return Required.parse(answer.body).challenge;
  };

  it('asks for twice the work with every 50 addresses, and for no more than a page can do', async () => {
    await signedUp(49);
    expect((await signUp(newAddress())).status).toBe(202);
    for (const [addresses, bits] of [
      [50, 14],
      [99, 14],
      [100, 15],
      [349, 19],
      [350, 20],
      [1_000, 20],
    ] as const) {
      await signedUp(addresses);
      expect(bitsOfChallenge(await challengeFor(newAddress())), `${addresses}`).toBe(bits);
    }
  });

  it('asks a network from which many signed up for more, and others for no more', async () => {
    await signedUp(0);
    const from = (address: string) => post('sign-up', { organisation: 'Shop', email: newAddress() }, address);
    // Each from an address of its own: no limit of a minute refuses one.
    for (let i = 0; i < 10; i += 1) expect((await from(`2001:db8:1:${i}::1`)).status, `${i}`).toBe(202);
    expect(bitsOfChallenge(Required.parse((await from('2001:db8:1:ffff::1')).body).challenge)).toBe(15);
    expect((await from('2001:db8:2::1')).status).toBe(202);
  });

  it.each([
    [0, 9, 0],
    [0, 10, 15],
    [0, 20, 16],
    [100, 20, 17],
    [0, 39, 16],
    [1_000, 9, 20],
    [1_000, 10, 21],
    [1_000, 320, 26],
    [1_000, 1_000, 26],
  ])('asks after %s addresses of other networks and %s of its own for %s bits', async (ofOthers, ofNetwork, bits) => {
    const [network, other] = [randomBytes(32), randomBytes(32)];
    await app.superuser.query('delete from sign_up_requests');
    await app.superuser.query(
      `insert into sign_up_requests (address_digest, network_digest)
         select sha256(int4send(n)), case when n > $2 then $3::bytea else $4::bytea end from generate_series(1, $1 + $2::int) n`,
      [ofOthers, ofNetwork, other, network],
    );
    const asked = { email: newAddress(), networkDigest: network, proof: undefined };
    const failure: unknown = await requireWork(
      app.superuser,
      app.service.installation.keyring,
      asked,
      new Date(),
    ).catch((error: unknown) => error);
    const challenge = failure instanceof RequestRefused ? failure.details.challenge : undefined;
    expect(challenge === undefined ? 0 : bitsOfChallenge(challenge)).toBe(bits);
  });

  it('counts no address of more than a day before', async () => {
    await signedUp(200);
    await app.superuser.query(`update sign_up_requests set requested_at = now() - interval '25 hours'`);
    expect((await signUp(newAddress())).status).toBe(202);
  });

  it('takes a proof for its address, and creates the account', async () => {
    await signedUp(60);
    const email = newAddress();
    const proof = proofOf(await challengeFor(email));
    const { data } = SignUpRequestedResponse.parse((await signUp(email, proof)).body);
    expect((await post('confirm-sign-up', { token: data.token, password: PASSWORD })).status).toBe(201);
    Required.parse((await signUp(newAddress(), proof)).body);
  });

  it('refuses proofs that are wrong, of less work, expired or of its own making', async () => {
    await signedUp(60);
    const email = newAddress();
    const challenge = await challengeFor(email);
    const [bits = '', expiry = '', authenticator = ''] = challenge.split('.');
    const wrong = [0, 1, 2, 3]
      .map((counter) => `${challenge}.${counter}`)
      .filter((proof) => leadingZeroBits(sha256(Buffer.from(proof))) < 14);
    const altered = [
      `1.${expiry}.${authenticator}`,
      `${bits}.${(Number.parseInt(expiry, 36) + 1).toString(36)}.${authenticator}`,
      `${bits}.${expiry}.${'A'.repeat(22)}`,
    ].map((one) => proofOf(one));
    for (const proof of [wrong[0], ...altered]) {
      await app.superuser.query('delete from rate_limit_windows');
      Required.parse((await signUp(email, proof)).body);
    }
    expect((await signUp(email, 'x')).body).toMatchObject({ errors: [{ field: 'proof_of_work' }] });
    const proof = proofOf(challenge);
    await app.superuser.query('delete from rate_limit_windows');
    // Twice the work is tolerated, four times is not.
    await signedUp(110);
    expect((await signUp(email, proof)).status).toBe(202);
    await signedUp(160);
    Required.parse((await signUp(email, proof)).body);
    await signedUp(60);
    const ended = Number.parseInt(expiry, 36) * 1000;
    const { keyring } = app.service.installation;
    const asked = { email, networkDigest: Buffer.alloc(32), proof };
    const at = (time: number) => requireWork(app.superuser, keyring, asked, new Date(time));
    await at(ended - 1);
    await expect(at(ended)).rejects.toMatchObject({ code: 'PROOF_OF_WORK_REQUIRED' });
  });
});

describe('an installation by invitation', () => {
  beforeAll(async () => {
    app = await startApp('api');
  });
  afterAll(() => app.stop());

  it('refuses to sign up, also with a token of a time when it was open', async () => {
    expect(await options()).toEqual({ mail: false, sign_up: 'invite', passkeys: false });
    const closed = { status: 403, body: { code: 'SIGN_UP_CLOSED' } };
    expect(await post('sign-up', { organisation: 'Shop', email: newAddress() })).toMatchObject(closed);
    const token = await newSignUpToken(app.service.installation.keyring, {
      organisation: 'Shop',
      email: newAddress(),
      expires_at: '2999-01-01T00:00:00Z',
    });
    expect(await post('confirm-sign-up', { token, password: PASSWORD })).toMatchObject(closed);
  });
});
