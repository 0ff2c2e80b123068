import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  RecoveryCodesResponse,
  SecondFactorBegunResponse,
  SecondFactorConfirmedResponse,
  SecondFactorResponse,
  SignInResponse,
} from '../../../schemas/api/auth.js';
import { PasswordReset } from '../../../schemas/api/panel/users.js';
import { PasskeyAddedResponse, PasskeyBegunResponse, PasskeyChallengeResponse } from '../../../schemas/api/passkeys.js';
import { totpCode } from '../../../src/accounts/second-factor/factor-secrets.js';
import { type Deviation, SoftAuthenticator } from '../../support/soft-authenticator.js';
import { type PanelApp, type PanelTenant, type PanelUser, startPanel } from '../panel/panel-fixture.js';
import { type Answer, ask } from '../server/running-app.js';

const ORIGIN = 'https://consent.example.org';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

describe('the second factor', () => {
  let panel: PanelApp;
  let tenant: PanelTenant;
  beforeAll(async () => {
    panel = await startPanel('api', { PUBLIC_URL: ORIGIN });
  });
  beforeEach(async () => {
    await panel.app.superuser.query('delete from rate_limit_windows');
    tenant = await panel.makeTenant();
  });
  afterAll(() => panel.stop());

  const post = (path: string, body: object): Promise<Answer> =>
    ask(`${panel.app.url}/api/v1/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const login = ({ email, password }: PanelUser, codes: object = {}): Promise<Answer> =>
    post('/login', { email, password, ...codes });
  const begin = (user: PanelUser, password = user.password, proof: object = {}) =>
    panel.as(user, 'POST', '/auth/second-factor', { current_password: password, ...proof });
  const confirm = (user: PanelUser, code: string) =>
    panel.as(user, 'POST', '/auth/second-factor/confirm', { totp_code: code });
  const disable = (user: PanelUser, codes: object, password = user.password) =>
    panel.as(user, 'POST', '/auth/second-factor/disable', { current_password: password, ...codes });
  const state = async (user: PanelUser) =>
    SecondFactorResponse.parse((await panel.as(user, 'GET', '/auth/second-factor')).body).data;
  const codeAt = (secret: Uint8Array, step: number): string => totpCode(secret, Math.floor(Date.now() / 30_000) + step);
  /** Enables it with the code of the current step. The next one is valid, too, also after the step ended. */
  const enabled = async (user: PanelUser) => {
    const { secret } = SecondFactorBegunResponse.parse((await begin(user)).body).data;
    const bytes = fromBase32(secret);
    const confirmed = await confirm(user, codeAt(bytes, 0));
    expect(confirmed.status).toBe(200);
    return { secret: bytes, codes: SecondFactorConfirmedResponse.parse(confirmed.body).data.recovery_codes ?? [] };
  };
  const required = { status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' } };
  const invalid = { status: 401, body: { code: 'SECOND_FACTOR_INVALID' } };

  it('is required at sign-in after the right password, and valid once', async () => {
    const { viewer } = tenant.users;
    expect(await state(viewer)).toEqual({ enabled_at: null, recovery_codes_left: 0 });
    const { secret } = await enabled(viewer);
    expect(await state(viewer)).toEqual({ enabled_at: expect.stringMatching(/Z$/), recovery_codes_left: 10 });
    expect(await login(viewer)).toMatchObject(required);
    const wrongPassword = { ...viewer, password: 'not this one' };
    expect(await login(wrongPassword)).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } });
    const code = codeAt(secret, 1);
    expect((await login(viewer, { totp_code: code })).status).toBe(200);
    expect(await login(viewer, { totp_code: code })).toMatchObject(invalid);
  });

  it('accepts one of two sign-ins that present one code at once', async () => {
    const { secret } = await enabled(tenant.users.viewer);
    const totp_code = codeAt(secret, 1);
    const answers = await Promise.all([1, 2, 3].map(() => login(tenant.users.viewer, { totp_code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('can be replaced by each of ten recovery codes, once', async () => {
    const { viewer, owner } = tenant.users;
    const { codes } = await enabled(viewer);
    expect(new Set(codes).size).toBe(10);
    const [first = '', second = ''] = codes;
    expect(first).toMatch(/^[a-z2-7]{6}-[a-z2-7]{6}$/);
    expect((await login(viewer, { recovery_code: ` ${first.toUpperCase().replace('-', ' ')}` })).status).toBe(200);
    expect(await login(viewer, { recovery_code: first })).toMatchObject(invalid);
    expect((await login(viewer, { recovery_code: second })).status).toBe(200);
    expect((await state(viewer)).recovery_codes_left).toBe(8);
    const log = await panel.as(owner, 'GET', '/audit-log?action=user.use_recovery_code');
    expect(log.body).toMatchObject({ data: [{ details: { left: 8 } }, { details: { left: 9 } }] });
  });

  it('gives ten new recovery codes for password and code, and forgets those before', async () => {
    const { viewer, owner } = tenant.users;
    const { secret, codes } = await enabled(viewer);
    const renew = (totp_code: string, current_password = viewer.password) =>
      panel.as(viewer, 'POST', '/auth/second-factor/recovery-codes', { current_password, totp_code });
    expect(await renew(codeAt(secret, 1), 'not this one')).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'current_password' }] },
    });
    expect(await renew('000000')).toMatchObject({ status: 422, body: { errors: [{ field: 'totp_code' }] } });
    const renewed = await renew(codeAt(secret, 1));
    expect(renewed.status).toBe(200);
    const next = RecoveryCodesResponse.parse(renewed.body).data.recovery_codes;
    expect(new Set([...codes, ...next]).size).toBe(20);
    expect(await login(viewer, { recovery_code: codes[0] })).toMatchObject(invalid);
    expect((await login(viewer, { recovery_code: next[9] })).status).toBe(200);
    const log = await panel.as(owner, 'GET', '/audit-log?action=user.renew_recovery_codes');
    expect(log.body).toMatchObject({ data: [{ subject: { id: viewer.id } }] });
  });

  it('is not in force before a code confirms it, and needs the password to begin', async () => {
    const { viewer } = tenant.users;
    expect(await begin(viewer, 'not this one')).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'current_password' }] },
    });
    expect(await confirm(viewer, '123456')).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    const first = SecondFactorBegunResponse.parse((await begin(viewer)).body).data;
    expect(first.otpauth_uri).toContain(`secret=${first.secret}&issuer=Consent%20Ledger`);
    expect((await login(viewer)).status).toBe(200);
    const { secret } = SecondFactorBegunResponse.parse((await begin(viewer)).body).data;
    expect(await confirm(viewer, codeAt(fromBase32(first.secret), 0))).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'totp_code' }] },
    });
    expect((await confirm(viewer, codeAt(fromBase32(secret), 0))).status).toBe(200);
    expect(await begin(viewer)).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
  });

  it('is removed with password and code, and can be added again', async () => {
    const { viewer, owner } = tenant.users;
    const { secret } = await enabled(viewer);
    const totp_code = codeAt(secret, 1);
    expect(await disable(viewer, { totp_code }, 'not this one')).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'current_password' }] },
    });
    expect(await disable(viewer, {})).toMatchObject({ status: 422, body: { errors: [{ field: 'totp_code' }] } });
    expect(await disable(viewer, { recovery_code: 'aaaaaa-aaaaaa' })).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'recovery_code' }] },
    });
    expect((await disable(viewer, { totp_code })).status).toBe(200);
    expect(await state(viewer)).toEqual({ enabled_at: null, recovery_codes_left: 0 });
    expect((await login(viewer)).status).toBe(200);
    await enabled(viewer);
    for (const [action, count] of Object.entries({ 'user.enable_second_factor': 2, 'user.disable_second_factor': 1 })) {
      const log = await panel.as(owner, 'GET', `/audit-log?action=${action}`);
      expect(log.body).toMatchObject({ data: Array(count).fill({ subject: { id: viewer.id } }) });
    }
  });

  it('is reset by those who may manage the user, and not by the user', async () => {
    const { owner, admin, viewer, dpo } = tenant.users;
    await enabled(viewer);
    const insufficient = { status: 403, body: { code: 'INSUFFICIENT_ROLE' } };
    const reset = (by: PanelUser, { id }: PanelUser) => panel.as(by, 'DELETE', `/users/${id}/second-factor`);
    expect(await reset(admin, dpo)).toMatchObject(insufficient);
    expect(await reset(owner, owner)).toMatchObject(insufficient);
    expect(await reset(panel.foreign.users.owner, viewer)).toMatchObject({ status: 404 });
    const shown = await panel.as(admin, 'GET', `/users/${viewer.id}`);
    expect(shown.body).toMatchObject({ data: { has_second_factor: true } });
    expect(await reset(admin, viewer)).toMatchObject({ status: 200, body: { data: { has_second_factor: false } } });
    expect((await login(viewer)).status).toBe(200);
    const log = await panel.as(owner, 'GET', '/audit-log?action=user.reset_second_factor');
    expect(log.body).toMatchObject({ data: [{ actor: { user_id: admin.id }, details: { changed: true } }] });
  });

  it('limits wrong codes of one user, from whichever address', async () => {
    const { viewer } = tenant.users;
    const { secret } = await enabled(viewer);
    const answers = [];
    for (let i = 0; i < 12; i += 1) answers.push(await login(viewer, { totp_code: '000000' }));
    const tried = answers.filter(({ status }) => status === 401).length;
    // A minute may end meanwhile.
    expect(tried).toBeLessThanOrEqual(10);
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_SIGN_IN_ATTEMPTS' } });
    expect((await login(viewer, { totp_code: codeAt(secret, 1) })).status).toBe(429);
  });

  it('survives a new password, and is stored encrypted', async () => {
    const { viewer, owner } = tenant.users;
    const { secret, codes } = await enabled(viewer);
    const reset = await panel.as(owner, 'POST', `/users/${viewer.id}/password-reset`);
    const { token } = PasswordReset.extend({ token: z.string() }).parse(
      z.object({ data: z.unknown() }).parse(reset.body).data,
    );
    const password = 'a staple that horses do not know';
    const changed = await post('/reset-password', { token, password });
    expect(changed.status).toBe(200);
    expect(await login({ ...viewer, password })).toMatchObject(required);
    const { rows } = await panel.app.superuser.query('select u::text as line from users u where id = $1', [viewer.id]);
    const line = JSON.stringify(rows);
    expect(line).not.toContain(secret.toString('hex'));
    for (const code of codes) expect(line).not.toContain(code.replace('-', ''));
  });

  it('cannot be removed by SQL: an altered row signs nobody in', async () => {
    const { viewer } = tenant.users;
    await enabled(viewer);
    await panel.app.superuser.query('update users set totp_secret = null, totp_confirmed_at = null where id = $1', [
      viewer.id,
    ]);
    expect(await login(viewer)).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } });
  });

  it('is for users of the panel only', async () => {
    expect(await begin(tenant.users.api_user)).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_ROLE' } });
  });

  describe('by a passkey', () => {
    const refused = { status: 401, body: { code: 'PASSKEY_INVALID' } };
    const challenge = async (use: 'sign_in' | 'second_factor') =>
      PasskeyChallengeResponse.parse((await post('/passkeys/challenge', { for: use })).body).data;
    const beginPasskey = (user: PanelUser, proof: object = {}, password = user.password) =>
      panel.as(user, 'POST', '/auth/passkeys', { current_password: password, ...proof });
    const confirmPasskey = (user: PanelUser, passkey: object) =>
      panel.as(user, 'POST', '/auth/passkeys/confirm', { label: 'Laptop', passkey });
    const list = (user: PanelUser) => panel.as(user, 'GET', '/auth/passkeys');
    const remove = (user: PanelUser, id: string, proof: object) =>
      panel.as(user, 'POST', `/auth/passkeys/${id}/remove`, { current_password: user.password, ...proof });
    /** Adds a passkey to a user who proves the second factor, if there is one. */
    const added = async (user: PanelUser, { step = 1, isVerified = true, proof = {} } = {}) => {
      const authenticator = new SoftAuthenticator(ORIGIN, step);
      const begun = PasskeyBegunResponse.parse((await beginPasskey(user, proof)).body).data;
      const answer = await confirmPasskey(user, authenticator.create(begun, { isVerified }));
      expect(answer.status).toBe(201);
      const { passkey, recovery_codes: codes } = PasskeyAddedResponse.parse(answer.body).data;
      return { authenticator, id: passkey.id, codes };
    };
    const signIn = async (authenticator: SoftAuthenticator, deviation: Deviation = {}) =>
      post('/passkeys/sign-in', { passkey: authenticator.get(await challenge('sign_in'), deviation) });
    const proofBy = async (authenticator: SoftAuthenticator, deviation: Deviation = {}) => ({
      passkey: authenticator.get(await challenge('second_factor'), deviation),
    });
    const entries = async (action: string) =>
      (await panel.as(tenant.users.owner, 'GET', `/audit-log?action=${action}`)).body;

    it('signs in alone, without an address, and is in the audit log', async () => {
      const { viewer } = tenant.users;
      const { authenticator, id, codes } = await added(viewer);
      expect(codes).toHaveLength(10);
      expect(await signIn(authenticator)).toMatchObject({ status: 200, body: { data: { user: { id: viewer.id } } } });
      expect((await list(viewer)).body).toMatchObject({
        data: [{ id, label: 'Laptop', was_verified: true, last_used_at: expect.stringMatching(/Z$/) }],
      });
      expect(await entries('user.add_passkey')).toMatchObject({ data: [{ subject: { id: viewer.id } }] });
      const use = { details: { passkey_id: id, use: 'sign_in' } };
      expect(await entries('user.use_passkey')).toMatchObject({ data: [use] });
      const shown = await panel.as(tenant.users.admin, 'GET', `/users/${viewer.id}`);
      expect(shown.body).toMatchObject({ data: { has_second_factor: true } });
    });

    it('is required after the password, and proves it once', async () => {
      const { viewer } = tenant.users;
      const { authenticator, codes } = await added(viewer, { step: 0, isVerified: false });
      const passkeys = [authenticator.id.toString('base64url')];
      expect(await login(viewer)).toMatchObject({ status: 401, body: { ...required.body, passkeys } });
      const wrongPassword = await login({ ...viewer, password: 'not this one' });
      expect(JSON.stringify(wrongPassword.body)).not.toContain(passkeys[0]);
      const proof = await proofBy(authenticator, { isVerified: false });
      expect((await login(viewer, proof)).status).toBe(200);
      expect(await login(viewer, proof)).toMatchObject(invalid);
      expect((await login(viewer, { recovery_code: codes?.[0] })).status).toBe(200);
    });

    it.each<[string, Deviation]>([
      ['of another origin', { origin: 'https://evil.example.org' }],
      ['of a frame in a page of another origin', { crossOrigin: true }],
      ['for another relying party', { rpId: 'example.org' }],
      ['to a challenge that the service did not make', { challenge: 'A'.repeat(75) }],
      ['of a registration', { type: 'webauthn.create' }],
      ['without the presence of a person', { isPresent: false }],
      ['without the verification of the person', { isVerified: false }],
      ['with the handle of another user', { userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    ])('refuses an answer %s', async (_, deviation) => {
      const { viewer } = tenant.users;
      const { authenticator } = await added(viewer, { step: 0 });
      expect(await signIn(authenticator, deviation)).toMatchObject(refused);
      expect((await signIn(authenticator)).status).toBe(200);
      expect(await entries('user.use_passkey')).toMatchObject({ data: [{}] });
    });

    it('refuses an answer that was used, is for another purpose, or is older than the last one', async () => {
      const { authenticator } = await added(tenant.users.viewer, { step: 0 });
      const [older, later] = [await challenge('sign_in'), await challenge('sign_in')];
      const passkey = authenticator.get(later);
      const answers = await Promise.all([1, 2, 3].map(() => post('/passkeys/sign-in', { passkey })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
      expect(await post('/passkeys/sign-in', { passkey: authenticator.get(older) })).toMatchObject(refused);
      const factor = authenticator.get(await challenge('second_factor'));
      expect(await post('/passkeys/sign-in', { passkey: factor })).toMatchObject(refused);
    });

    it('refuses and logs a counter that goes back, because the passkey was copied', async () => {
      const { viewer } = tenant.users;
      const { authenticator, id } = await added(viewer);
      expect((await signIn(authenticator, { counter: 7 })).status).toBe(200);
      expect(await signIn(authenticator, { counter: 7 })).toMatchObject(refused);
      const logged = { actor: { kind: 'service' }, details: { passkey_id: id, reason: 'counter_went_back' } };
      expect(await entries('user.refuse_passkey')).toMatchObject({ data: [logged] });
      expect((await signIn(authenticator, { counter: 8 })).status).toBe(200);
    });

    it('is no factor of another user', async () => {
      const { viewer, dpo } = tenant.users;
      const { authenticator } = await added(viewer);
      const other = await added(dpo);
      expect(await login(viewer, await proofBy(other.authenticator))).toMatchObject(invalid);
      expect(await remove(viewer, other.id, await proofBy(authenticator))).toMatchObject({ status: 404 });
      expect(await panel.as(viewer, 'PATCH', `/auth/passkeys/${other.id}`, { label: 'Mine' })).toMatchObject({
        status: 404,
      });
      const begun = PasskeyBegunResponse.parse((await beginPasskey(viewer, await proofBy(authenticator))).body).data;
      const taken = await confirmPasskey(viewer, other.authenticator.create(begun));
      expect(taken).toMatchObject({ status: 422, body: { errors: [{ field: 'passkey' }] } });
    });

    it('is added with password and second factor, and answers one challenge', async () => {
      const { viewer } = tenant.users;
      const { secret } = await enabled(viewer);
      expect(await beginPasskey(viewer, {}, 'not this one')).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'current_password' }] },
      });
      expect(await beginPasskey(viewer)).toMatchObject({ status: 422, body: { errors: [{ field: 'totp_code' }] } });
      const none = new SoftAuthenticator(ORIGIN);
      const unasked = none.create({ challenge: 'AAAA', rp: { id: 'consent.example.org' }, user: { id: 'AAAA' } });
      expect(await confirmPasskey(viewer, unasked)).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
      const begun = PasskeyBegunResponse.parse(
        (await beginPasskey(viewer, { totp_code: codeAt(secret, 1) })).body,
      ).data;
      for (const deviation of [
        { origin: 'https://evil.example.org' },
        { rpId: 'example.org' },
        { challenge: 'A'.repeat(75) },
      ]) {
        const answer = await confirmPasskey(viewer, new SoftAuthenticator(ORIGIN).create(begun, deviation));
        expect(answer, JSON.stringify(deviation)).toMatchObject({
          status: 422,
          body: { errors: [{ field: 'passkey' }] },
        });
      }
      await panel.app.superuser.query('delete from rate_limit_windows');
      const made = await confirmPasskey(viewer, new SoftAuthenticator(ORIGIN).create(begun));
      expect(made).toMatchObject({ status: 201, body: { data: { recovery_codes: null } } });
      const again = await confirmPasskey(viewer, new SoftAuthenticator(ORIGIN).create(begun));
      expect(again).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    });

    it('is renamed and removed by its user, and the password alone signs in after the last one', async () => {
      const { viewer } = tenant.users;
      const { authenticator, id, codes } = await added(viewer);
      const renamed = await panel.as(viewer, 'PATCH', `/auth/passkeys/${id}`, { label: 'Key ring' });
      expect(renamed).toMatchObject({ status: 200, body: { data: { label: 'Key ring' } } });
      expect((await signIn(authenticator)).status).toBe(200);
      expect(await remove(viewer, id, {})).toMatchObject({ status: 422, body: { errors: [{ field: 'totp_code' }] } });
      const second = await added(viewer, { proof: await proofBy(authenticator) });
      expect(second.codes).toBeNull();
      const other = SignInResponse.parse((await signIn(authenticator)).body).data.refresh_token;
      expect((await remove(viewer, id, await proofBy(second.authenticator))).status).toBe(200);
      expect(await post('/refresh', { refresh_token: other })).toMatchObject({ status: 401 });
      expect(await signIn(authenticator)).toMatchObject(refused);
      expect(await login(viewer)).toMatchObject(required);
      expect((await remove(viewer, second.id, { recovery_code: codes?.[0] })).status).toBe(200);
      expect(await state(viewer)).toEqual({ enabled_at: null, recovery_codes_left: 0 });
      expect((await login(viewer)).status).toBe(200);
      expect(await entries('user.remove_passkey')).toMatchObject({
        data: [{}, { details: { passkey_id: id, ended_sign_ins: 2 } }],
      });
    });

    it('is proved before an app is added, whose secret proves nothing until its code confirms it', async () => {
      const { viewer } = tenant.users;
      const { authenticator, id, codes } = await added(viewer);
      expect(await begin(viewer)).toMatchObject({ status: 422, body: { errors: [{ field: 'totp_code' }] } });
      const begun = await begin(viewer, viewer.password, await proofBy(authenticator));
      const secret = fromBase32(SecondFactorBegunResponse.parse(begun.body).data.secret);
      expect(await login(viewer, { totp_code: codeAt(secret, 0) })).toMatchObject(invalid);
      const removed = await remove(viewer, id, { totp_code: codeAt(secret, 0) });
      expect(removed).toMatchObject({ status: 422, body: { errors: [{ field: 'totp_code' }] } });
      const confirmed = await confirm(viewer, codeAt(secret, 0));
      expect(confirmed).toMatchObject({ status: 200, body: { data: { recovery_codes: null } } });
      expect((await login(viewer, { totp_code: codeAt(secret, 1) })).status).toBe(200);
      expect((await login(viewer, { recovery_code: codes?.[0] })).status).toBe(200);
    });

    it('takes no app that was begun before it, and is not added if it was begun before the app', async () => {
      const { viewer, dpo } = tenant.users;
      const app = SecondFactorBegunResponse.parse((await begin(viewer)).body).data;
      await added(viewer);
      const waitsNot = { status: 409, body: { code: 'WRONG_STATE' } };
      expect(await confirm(viewer, codeAt(fromBase32(app.secret), 0))).toMatchObject(waitsNot);
      const begun = PasskeyBegunResponse.parse((await beginPasskey(dpo)).body).data;
      await enabled(dpo);
      expect(await confirmPasskey(dpo, new SoftAuthenticator(ORIGIN).create(begun))).toMatchObject(waitsNot);
    });

    it('is not added if it was begun before a new password', async () => {
      const { viewer } = tenant.users;
      const begun = PasskeyBegunResponse.parse((await beginPasskey(viewer)).body).data;
      const passwords = { current_password: viewer.password, new_password: 'a staple that horses do not know' };
      expect((await panel.as(viewer, 'POST', '/auth/change-password', passwords)).status).toBe(200);
      const made = await confirmPasskey(viewer, new SoftAuthenticator(ORIGIN).create(begun));
      expect(made).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    });

    it('keeps the recovery codes when the app goes, and renews them', async () => {
      const { viewer } = tenant.users;
      const { secret, codes } = await enabled(viewer);
      const { authenticator } = await added(viewer, { proof: { totp_code: codeAt(secret, 1) } });
      expect((await disable(viewer, await proofBy(authenticator))).status).toBe(200);
      expect(await login(viewer)).toMatchObject(required);
      expect((await login(viewer, { recovery_code: codes[0] })).status).toBe(200);
      const renewed = await panel.as(viewer, 'POST', '/auth/second-factor/recovery-codes', {
        current_password: viewer.password,
        ...(await proofBy(authenticator)),
      });
      expect(renewed.status).toBe(200);
      expect(await login(viewer, { recovery_code: codes[1] })).toMatchObject(invalid);
    });

    it('is removed by the reset of a lost second factor, and does not sign in a disabled user', async () => {
      const { owner, viewer, dpo } = tenant.users;
      const { authenticator } = await added(viewer);
      const reset = await panel.as(owner, 'DELETE', `/users/${viewer.id}/second-factor`);
      expect(reset).toMatchObject({ status: 200, body: { data: { has_second_factor: false } } });
      expect(await signIn(authenticator)).toMatchObject(refused);
      expect((await login(viewer)).status).toBe(200);
      const other = await added(dpo);
      expect((await panel.as(owner, 'PATCH', `/users/${dpo.id}`, { is_disabled: true })).status).toBe(200);
      expect(await signIn(other.authenticator)).toMatchObject(refused);
    });

    it.each([
      ['altered', `update passkeys set sign_count = 0 where id = $1`],
      ['deleted', `delete from passkeys where id = $1`],
      [
        'given to another user',
        `update passkeys set user_id = (select id from users where id <> user_id limit 1) where id = $1`,
      ],
    ])('signs nobody in once its row was %s by SQL, and stays required', async (_, alteration) => {
      const { viewer } = tenant.users;
      const { authenticator, id } = await added(viewer);
      expect((await signIn(authenticator)).status).toBe(200);
      await panel.app.superuser.query(alteration, [id]);
      expect(await signIn(authenticator)).toMatchObject(refused);
      expect(await login(viewer, await proofBy(authenticator))).toMatchObject(invalid);
      expect(await login(viewer)).toMatchObject(required);
    });

    it('does not come back with a copy of its row after it was removed', async () => {
      const { viewer } = tenant.users;
      const { authenticator, id } = await added(viewer);
      await panel.app.superuser.query('create table kept_passkey as select * from passkeys where id = $1', [id]);
      expect((await remove(viewer, id, await proofBy(authenticator))).status).toBe(200);
      await panel.app.superuser.query('insert into passkeys select * from kept_passkey');
      expect(await signIn(authenticator)).toMatchObject(refused);
      expect((await list(viewer)).body).toEqual({ data: [] });
    });

    it('is for users of the panel only', async () => {
      const { api_user, owner, viewer } = tenant.users;
      expect(await beginPasskey(api_user)).toMatchObject({ status: 403 });
      await added(viewer);
      const toBackend = () => panel.as(owner, 'PATCH', `/users/${viewer.id}`, { role: 'api_user' });
      expect(await toBackend()).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
      expect((await panel.as(owner, 'DELETE', `/users/${viewer.id}/second-factor`)).status).toBe(200);
      expect((await toBackend()).status).toBe(200);
    });
  });
});

function fromBase32(text: string): Buffer {
  const bits = [...text].map((character) => BASE32.indexOf(character).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
