import * as z from 'zod';
import { Uuid } from '../evidence/primitives.js';
import { InputUuid } from './common.js';
import { displayName } from './panel/common.js';

/** Bytes as browsers write them in the JSON of WebAuthn (`PublicKeyCredential.toJSON`). */
const bytes = (maxCharacters: number) =>
  z
    .string()
    .min(1)
    .max(maxCharacters)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding');

/** What every answer of an authenticator has. An id has up to 1,023 bytes (WebAuthn §4, Credential ID). */
const CREDENTIAL = {
  id: bytes(1364).describe('Identifier that the authenticator chose.'),
  rawId: bytes(1364).describe('The same as `id`.'),
  type: z.literal('public-key').describe('The kind of the credential.'),
};
const ClientData = bytes(4096).describe('What the browser states: type, challenge and origin.');

/** The answer to a challenge: `toJSON()` of what `navigator.credentials.get` returns. Other members are ignored. */
export const PasskeyAssertion = z
  .object({
    ...CREDENTIAL,
    response: z
      .object({
        clientDataJSON: ClientData,
        authenticatorData: bytes(4096).describe('What the authenticator states.'),
        signature: bytes(2048).describe('Signature of the authenticator over both.'),
        userHandle: bytes(88).nullish().describe('Identifier of the user that the passkey has.'),
      })
      .describe('The answer of the authenticator.'),
  })
  .meta({ id: 'PasskeyAssertion' });
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;

/** A new passkey: `toJSON()` of what `navigator.credentials.create` returns. Other members are ignored. */
export const PasskeyRegistration = z
  .object({
    ...CREDENTIAL,
    response: z
      .object({
        clientDataJSON: ClientData,
        attestationObject: bytes(8192).describe('What the authenticator states, with the public key.'),
        transports: z
          .array(z.string().regex(/^[a-z-]{1,20}$/))
          .max(10)
          .optional()
          .describe('How the browser reaches the authenticator.'),
      })
      .describe('The answer of the authenticator.'),
  })
  .meta({ id: 'PasskeyRegistration' });
export type PasskeyRegistration = z.infer<typeof PasskeyRegistration>;

const Challenge = z.string().describe('Valid once, for five minutes.');
const Timeout = z.int().describe('Milliseconds for which the browser waits.');

/** POST /api/v1/auth/passkeys/challenge */
export const PasskeyChallengeRequest = z
  .strictObject({
    for: z
      .enum(['sign_in', 'second_factor'])
      .describe('Whether the passkey is the only factor, for which it has to verify the person, or the second one.'),
  })
  .meta({ id: 'PasskeyChallengeRequest' });

export const PasskeyChallengeResponse = z
  .object({
    data: z
      .object({
        challenge: Challenge,
        rpId: z.string().describe('Host name of the installation.'),
        timeout: Timeout,
        userVerification: z.enum(['required', 'preferred']).describe('Whether the person has to be verified.'),
      })
      .describe('For `PublicKeyCredential.parseRequestOptionsFromJSON`.'),
  })
  .meta({ id: 'PasskeyChallengeResponse' });

const Label = displayName(100).min(1).describe('Name of the passkey, for the user.');

export const Passkey = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    credential_id: z.string().describe('Identifier that the authenticator chose, for `allowCredentials`.'),
    label: z.string().describe('Name of the passkey, for the user.'),
    was_verified: z
      .boolean()
      .describe('Whether it verified the person when it was made. One that does not is a second factor only.'),
    created_at: z.iso.datetime().describe('When it was created.'),
    last_used_at: z.iso.datetime().nullable().describe('When it was last used, or null for never.'),
  })
  .meta({ id: 'Passkey' });

/** GET /api/v1/auth/passkeys */
export const PasskeysResponse = z
  .object({ data: z.array(Passkey).describe('Your passkeys, oldest first.') })
  .meta({ id: 'PasskeysResponse' });

const CredentialParameters = z.object({
  type: z.literal('public-key').describe('The kind of the credential.'),
  alg: z.int().describe('COSE algorithm.'),
});

/** POST /api/v1/auth/passkeys */
export const PasskeyBegunResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        challenge: Challenge,
        rp: z
          .object({ id: z.string().describe('Host name.'), name: z.string().describe('Name.') })
          .describe('This installation.'),
        user: z
          .object({
            id: z.string().describe('The UUID of the user: 16 bytes in base64url.'),
            name: z.string().describe('E-mail address of the user.'),
            displayName: z.string().describe('The same.'),
          })
          .describe('You.'),
        pubKeyCredParams: z.array(CredentialParameters).describe('Signatures that are accepted, the best one first.'),
        excludeCredentials: z
          .array(
            z.object({
              type: z.literal('public-key').describe('The kind of the credential.'),
              id: z.string().describe('Identifier.'),
              transports: z.array(z.string()).describe('How the browser reaches it.'),
            }),
          )
          .describe('Your passkeys: an authenticator that has one makes no second one.'),
        authenticatorSelection: z
          .object({
            residentKey: z
              .literal('preferred')
              .describe('It is found without an e-mail address, if the authenticator can do that.'),
            userVerification: z.literal('preferred').describe('One that verifies nobody becomes a second factor.'),
          })
          .describe('What the authenticator must be able to do.'),
        attestation: z.literal('none').describe('No proof of its maker is asked for.'),
        timeout: Timeout,
      })
      .describe('For `PublicKeyCredential.parseCreationOptionsFromJSON`.'),
  })
  .meta({ id: 'PasskeyBegunResponse' });
export type PasskeyCreation = z.infer<typeof PasskeyBegunResponse>['data'];

/** POST /api/v1/auth/passkeys/confirm */
export const ConfirmPasskeyRequest = z
  .strictObject({ label: Label, passkey: PasskeyRegistration.describe('The new passkey.') })
  .meta({ id: 'ConfirmPasskeyRequest' });

export const PasskeyAddedResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        passkey: Passkey.describe('The passkey.'),
        recovery_codes: z
          .array(z.string())
          .nullable()
          .describe('Ten codes, shown this once, or null if you had a second factor before.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'PasskeyAddedResponse' });

export const PasskeyParams = z.object({ passkey_id: InputUuid.describe('The passkey.') });

/** PATCH /api/v1/auth/passkeys/{passkey_id} */
export const RenamePasskeyRequest = z.strictObject({ label: Label }).meta({ id: 'RenamePasskeyRequest' });

export const PasskeyResponse = z.object({ data: Passkey.describe('The passkey.') }).meta({ id: 'PasskeyResponse' });

/** POST /api/v1/auth/passkeys/{passkey_id}/remove */
export const PasskeyRemovedResponse = z
  .object({ message: z.string().describe('What was done, in words.') })
  .meta({ id: 'PasskeyRemovedResponse' });
