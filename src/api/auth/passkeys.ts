import type * as z from 'zod';
import { ChangePasskeysRequest, PasskeySignInRequest, SignInResponse } from '../../../schemas/api/auth.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import {
  ConfirmPasskeyRequest,
  type Passkey,
  PasskeyAddedResponse,
  PasskeyBegunResponse,
  PasskeyChallengeRequest,
  PasskeyChallengeResponse,
  PasskeyParams,
  PasskeyRemovedResponse,
  PasskeyResponse,
  PasskeysResponse,
  RenamePasskeyRequest,
} from '../../../schemas/api/passkeys.js';
import { CHALLENGE_MS, newChallenge } from '../../accounts/passkeys/challenges.js';
import { type ListedPasskey, listPasskeys, readPasskey } from '../../accounts/passkeys/list-passkeys.js';
import { userOfPasskey } from '../../accounts/passkeys/use-passkey.js';
import * as passkeys from '../../accounts/second-factor/change-passkeys.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { PANEL_ROLES } from '../server/operation.js';
import { countFailures } from './attempts.js';
import { route } from './deps.js';
import { checkPassword, codeLimits, factorOptions, presented, wrong, wrongProof } from './second-factor.js';
import { FAILURES_BY_ADDRESS, signInOf } from './sign-in.js';
import { COOKIE_HEADER, respondWithTokens, SHOWN_TOKENS } from './tokens.js';

const shared = { tag: 'Sign-in', bodyLimit: 16_384 } as const;
const own = { auth: 'user', roles: PANEL_ROLES, ...shared } as const;

const SHOWN_CHALLENGE = 'AAABm0f2w0DxE9m0r3vYh7c5J8nQm2kZ9wq1c7E4b0hUj2vR6xYt3pLs5aKd8gFnQz4Wm7eHc1o';
const SHOWN_PASSKEY = {
  id: '019d0b83-3e5f-7a6b-8c7d-8e9f0a1b2c3d',
  credential_id: 'x7Qm2kZ9wq1c7E4b0hUj2g',
  label: 'Office laptop',
  was_verified: true,
  created_at: SHOWN.createdAt,
  last_used_at: null,
};
const SHOWN_CREDENTIAL = {
  id: 'x7Qm2kZ9wq1c7E4b0hUj2g',
  rawId: 'x7Qm2kZ9wq1c7E4b0hUj2g',
  type: 'public-key',
};
const SHOWN_CLIENT_DATA = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0';

/** Passkeys of panel users. Backends have none. */
export const PASSKEY_OPERATIONS = [
  route({
    auth: 'open',
    ...shared,
    id: 'createPasskeyChallenge',
    method: 'post',
    path: '/api/v1/auth/passkeys/challenge',
    summary: 'Get a challenge that a passkey signs',
    description:
      'It needs no credential and says nothing about a user: the authenticator knows who its passkey belongs to. 409 PASSKEYS_NOT_CONFIGURED if the installation has no passkeys.',
    body: PasskeyChallengeRequest,
    response: PasskeyChallengeResponse,
    errors: ['PASSKEYS_NOT_CONFIGURED'],
    example: {
      body: { for: 'sign_in' },
      response: {
        data: {
          challenge: SHOWN_CHALLENGE,
          rpId: 'consent.example.org',
          timeout: CHALLENGE_MS,
          userVerification: 'required',
        },
      },
    },
    handle: async ({ body }, deps) => {
      const { id: rpId } = passkeys.configured(deps);
      const challenge = await newChallenge(deps.factorKeys, body.for, Date.now());
      const userVerification = body.for === 'sign_in' ? ('required' as const) : ('preferred' as const);
      return { data: { challenge, rpId, timeout: CHALLENGE_MS, userVerification } };
    },
  }),
  route({
    auth: 'open',
    limit: 'failures',
    ...shared,
    id: 'signInWithPasskey',
    method: 'post',
    path: '/api/v1/auth/passkeys/sign-in',
    summary: 'Sign in with a passkey alone',
    description:
      'The passkey signs a challenge for `sign_in`, and its authenticator verifies the person by PIN, fingerprint or face. 401 PASSKEY_INVALID if it did not, if the passkey is unknown or was removed, or if the challenge was used or is older than five minutes.',
    body: PasskeySignInRequest,
    response: SignInResponse,
    headers: COOKIE_HEADER,
    errors: ['PASSKEY_INVALID', 'PASSKEYS_NOT_CONFIGURED', 'CROSS_SITE_REQUEST'],
    example: {
      body: {
        passkey: {
          ...SHOWN_CREDENTIAL,
          response: {
            clientDataJSON: SHOWN_CLIENT_DATA,
            authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA',
            signature: 'MEUCIQDK5r0',
            userHandle: 'AZ0LfhGqe7uMzAEjRWeJrQ',
          },
        },
        refresh_token_in: 'cookie',
      },
      response: SHOWN_TOKENS('Signed in.'),
    },
    action: 'sign_in.start',
    handle: async (call, deps) => {
      const { body, request } = call;
      passkeys.configured(deps);
      const limits = [{ scope: 'sign-in-address', key: request.countedClient, limit: FAILURES_BY_ADDRESS }];
      return respondWithTokens(deps.tokens, call, 'Signed in.', () =>
        countFailures(deps.rateLimiter, limits, async () => {
          const found = await userOfPasskey(factorOptions(deps, request), body.passkey);
          const started = found && (await signInOf(deps, request, found));
          if (started === null) throw new ApiError('PASSKEY_INVALID');
          return started;
        }),
      );
    },
  }),
  route({
    ...own,
    id: 'listPasskeys',
    path: '/api/v1/auth/passkeys',
    summary: 'List your passkeys, oldest first',
    response: PasskeysResponse,
    example: { response: { data: [SHOWN_PASSKEY] } },
    handle: async ({ user }, { adminPool }) => ({ data: (await listPasskeys(adminPool, user.id)).map(shownPasskey) }),
  }),
  route({
    ...own,
    limit: 'failures',
    id: 'beginPasskey',
    method: 'post',
    path: '/api/v1/auth/passkeys',
    summary: 'Begin a passkey, with password and second factor',
    description:
      'The response is for the browser, and /api/v1/auth/passkeys/confirm takes what the authenticator makes of it. A user with a second factor proves it. 422 VALIDATION_ERROR at `current_password`, `totp_code`, `recovery_code` or `passkey` if one is wrong; 409 WRONG_STATE beyond 20 passkeys.',
    body: ChangePasskeysRequest,
    status: 201,
    response: PasskeyBegunResponse,
    errors: ['WRONG_STATE', 'PASSKEYS_NOT_CONFIGURED'],
    example: {
      body: { current_password: EXAMPLE_VALUES.panelPassword },
      response: {
        message: 'Make the passkey with the browser, and confirm it.',
        data: {
          challenge: SHOWN_CHALLENGE,
          rp: { id: 'consent.example.org', name: 'Consent Ledger' },
          user: {
            id: 'AZ0LfhGqe7uMzAEjRWeJrQ',
            name: EXAMPLE_VALUES.panelEmail,
            displayName: EXAMPLE_VALUES.panelEmail,
          },
          pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
          excludeCredentials: [],
          authenticatorSelection: {
            residentKey: 'preferred',
            userVerification: 'preferred',
          },
          attestation: 'none',
          timeout: CHALLENGE_MS,
        },
      },
    },
    handle: async ({ user, body, request }, deps) => {
      passkeys.configured(deps);
      await checkPassword(deps, user, body.current_password);
      const data = await countFailures(deps.rateLimiter, codeLimits(user), async () => {
        const begun = await passkeys.beginPasskey(factorOptions(deps, request), user, presented(body));
        if (begun === null) throw wrongProof(body);
        return begun;
      });
      return { message: 'Make the passkey with the browser, and confirm it.', data };
    },
  }),
  route({
    ...own,
    limit: 'failures',
    id: 'confirmPasskey',
    method: 'post',
    path: '/api/v1/auth/passkeys/confirm',
    summary: 'Add the passkey that the browser made',
    description:
      'From now on, a sign-in with the password requires a second factor, and the first one comes with ten recovery codes, returned once. 422 VALIDATION_ERROR at `passkey` if the answer of the authenticator is wrong or older than five minutes, or if its passkey was added before; 409 WRONG_STATE if none was begun since the last change of password or app.',
    body: ConfirmPasskeyRequest,
    status: 201,
    response: PasskeyAddedResponse,
    errors: ['WRONG_STATE', 'PASSKEYS_NOT_CONFIGURED'],
    example: {
      body: {
        label: SHOWN_PASSKEY.label,
        passkey: {
          ...SHOWN_CREDENTIAL,
          response: {
            clientDataJSON: SHOWN_CLIENT_DATA,
            attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ',
            transports: ['internal'],
          },
        },
      },
      response: {
        message: 'The passkey was added.',
        data: { passkey: SHOWN_PASSKEY, recovery_codes: ['k3v6zq-7hx2mt', 'p5b4ua-yd7nw2'] },
      },
    },
    action: 'user.add_passkey',
    handle: async ({ user, body, request }, deps) => {
      const options = factorOptions(deps, request);
      const { passkey, recoveryCodes } = await countFailures(deps.rateLimiter, codeLimits(user), async () => {
        const added = await passkeys.confirmPasskey(options, user, body.label, body.passkey);
        if (added === null) throw wrong('passkey', 'is wrong or too old, or belongs to a user already');
        return added;
      });
      const recovery_codes = recoveryCodes && [...recoveryCodes];
      return { message: 'The passkey was added.', data: { passkey: shownPasskey(passkey), recovery_codes } };
    },
  }),
  route({
    ...own,
    id: 'renamePasskey',
    method: 'patch',
    path: '/api/v1/auth/passkeys/{passkey_id}',
    summary: 'Rename one of your passkeys',
    params: PasskeyParams,
    body: RenamePasskeyRequest,
    response: PasskeyResponse,
    errors: ['RESOURCE_NOT_FOUND'],
    example: { body: { label: SHOWN_PASSKEY.label }, response: { data: SHOWN_PASSKEY } },
    action: 'user.rename_passkey',
    handle: async ({ user, params, body, request }, deps) => ({
      data: shownPasskey(
        await passkeys.renamePasskey(factorOptions(deps, request), user, params.passkey_id, body.label),
      ),
    }),
  }),
  route({
    ...own,
    limit: 'failures',
    id: 'removePasskey',
    method: 'post',
    path: '/api/v1/auth/passkeys/{passkey_id}/remove',
    summary: 'Remove one of your passkeys, with password and second factor',
    description:
      'The second factor is proved by the app, a recovery code or a passkey. With the last factor the recovery codes go, and the password alone signs in again. Ends the other sign-ins of the user; the current one continues. 422 VALIDATION_ERROR at `current_password`, `totp_code`, `recovery_code` or `passkey` if one is missing or wrong.',
    params: PasskeyParams,
    body: ChangePasskeysRequest,
    response: PasskeyRemovedResponse,
    errors: ['RESOURCE_NOT_FOUND'],
    example: {
      body: { current_password: EXAMPLE_VALUES.panelPassword, recovery_code: 'k3v6zq-7hx2mt' },
      response: { message: 'The passkey was removed.' },
    },
    action: 'user.remove_passkey',
    handle: async ({ user, params, body, request }, deps) => {
      await readPasskey(deps.adminPool, user.id, params.passkey_id);
      await checkPassword(deps, user, body.current_password);
      await countFailures(deps.rateLimiter, codeLimits(user), async () => {
        const options = factorOptions(deps, request);
        if (!(await passkeys.removePasskey(options, user, params.passkey_id, presented(body)))) throw wrongProof(body);
      });
      return { message: 'The passkey was removed.' };
    },
  }),
];

function shownPasskey(passkey: ListedPasskey): z.infer<typeof Passkey> {
  return {
    id: passkey.id,
    credential_id: passkey.credentialId,
    label: passkey.label,
    was_verified: passkey.wasVerified,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  };
}
