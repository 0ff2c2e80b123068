import { type Api, dataOf } from '../../api/client.js';
import { ApiFailure } from '../../api/failure.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import type { Values } from '../../ui/action-form.js';
import { codeIn } from './code-in.js';

type Creation = Awaited<ReturnType<typeof begun>>;

/** Whether the browser has passkeys. It shows them on a secure page only. */
export const hasPasskeys = (): boolean => typeof PublicKeyCredential !== 'undefined';

/** Asks the browser for passkeys, and makes the members of requests from what it answers. */
export function usePasskeys() {
  const api = useApi();
  const { passkeys: words } = useMessages();
  /** A browser throws if the person cancels, if no passkey is there, and after the time of the challenge. */
  const asked = async <Answer>(ask: Promise<Credential | null>, Kind: new () => Answer) => {
    const credential = await ask.catch(() => null);
    if (credential instanceof PublicKeyCredential && credential.response instanceof Kind)
      return { id: credential.id, rawId: credential.id, type: 'public-key' as const, answer: credential.response };
    throw new ApiFailure('NO_PASSKEY', words.none, 0);
  };
  /** @param allowed identifiers of the passkeys that may be used; none: those that the browser finds by itself */
  const use = async (purpose: 'sign_in' | 'second_factor', allowed: readonly string[]) => {
    const { challenge, ...options } = await dataOf(
      api.POST('/api/v1/auth/passkeys/challenge', { body: { for: purpose } }),
    );
    const publicKey = {
      ...options,
      challenge: bytes(challenge),
      allowCredentials: allowed.map((id) => ({ type: 'public-key' as const, id: bytes(id) })),
    };
    const { answer, ...credential } = await asked(
      navigator.credentials.get({ publicKey }),
      AuthenticatorAssertionResponse,
    );
    const response = {
      clientDataJSON: base64url(answer.clientDataJSON),
      authenticatorData: base64url(answer.authenticatorData),
      signature: base64url(answer.signature),
      userHandle: answer.userHandle && base64url(answer.userHandle),
    };
    return { ...credential, response };
  };
  /** The proof of the second factor: the code that was entered, or a passkey if none was. */
  const proof = async (values: Values, passkeys: readonly { readonly credential_id: string }[]) => {
    const code = values.text('totp_code').trim();
    if (code !== '') return codeIn(code);
    const allowed = passkeys.map(({ credential_id }) => credential_id);
    return { passkey: await use('second_factor', allowed) };
  };
  const make = async ({ challenge, user, excludeCredentials, ...options }: Creation) => {
    const publicKey = {
      ...options,
      challenge: bytes(challenge),
      user: { ...user, id: bytes(user.id) },
      // The browser knows by itself how it reaches them.
      excludeCredentials: excludeCredentials.map(({ type, id }) => ({ type, id: bytes(id) })),
    };
    const { answer, ...credential } = await asked(
      navigator.credentials.create({ publicKey }),
      AuthenticatorAttestationResponse,
    );
    const response = {
      clientDataJSON: base64url(answer.clientDataJSON),
      attestationObject: base64url(answer.attestationObject),
      transports: answer.getTransports(),
    };
    return { ...credential, response };
  };
  return { use, proof, make };
}

/** Asks for a new passkey. */
export function begun(api: Api, body: { readonly current_password: string }) {
  return dataOf(api.POST('/api/v1/auth/passkeys', { body }));
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
}

function base64url(buffer: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
