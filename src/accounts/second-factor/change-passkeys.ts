import { randomUUID } from 'node:crypto';
import type { PasskeyCreation, PasskeyRegistration } from '../../../schemas/api/passkeys.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused, RequestRefused } from '../../platform/errors.js';
import { endSignIns } from '../credentials/end-sign-ins.js';
import { noticeTo } from '../mail/mail-job.js';
import { CHALLENGE_MS, newChallenge, timeOfChallenge } from '../passkeys/challenges.js';
import { type ListedPasskey, listPasskeys, readPasskey } from '../passkeys/list-passkeys.js';
import type { RelyingParty } from '../passkeys/relying-party.js';
import { userHandle } from '../passkeys/use-passkey.js';
import { ALGORITHMS, verifyRegistration } from '../passkeys/web-authn.js';
import type { SignedInUser, User } from '../users/user-directory.js';
import { newRecoveryCodes } from './factor-secrets.js';
import { type FactorOptions, isInForce, type PresentedFactor, readStoredFactor, useFactor } from './prove-factor.js';

const MAX_PASSKEYS = 20;

/** Returns the relying party. @throws RequestRefused PASSKEYS_NOT_CONFIGURED */
export function configured({ relyingParty }: Pick<FactorOptions, 'relyingParty'>): RelyingParty {
  if (relyingParty === null) throw new RequestRefused('PASSKEYS_NOT_CONFIGURED');
  return relyingParty;
}

/**
 * Starts to add a passkey. A user with a second factor proves possession of it. A challenge from an earlier, unfinished
 * attempt is replaced.
 * @returns what the browser passes to the authenticator, or null if the second factor was not proved
 * @throws RequestRefused PASSKEYS_NOT_CONFIGURED
 * @throws ChangeRefused `wrong_state` if the user has 20 passkeys
 */
export function beginPasskey(
  options: FactorOptions,
  user: User,
  presented: PresentedFactor,
): Promise<PasskeyCreation | null> {
  const { id } = configured(options);
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null) return null;
    if (isInForce(stored) && !(await useFactor({ ...options, db }, user, stored, presented))) return null;
    if (stored.passkeyIds.length >= MAX_PASSKEYS) {
      throw new ChangeRefused('wrong_state', `You have ${MAX_PASSKEYS} passkeys. Remove one first.`);
    }
    const challenge = await newChallenge(options.keys, 'registration', options.nowSeconds() * 1000);
    await db.query('update users set passkey_challenge = $2 where id = $1', [user.id, challenge]);
    const present = await listPasskeys(db, user.id);
    return {
      challenge,
      rp: { id, name: 'Consent Ledger' },
      user: { id: userHandle(user.id), name: user.email, displayName: user.email },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
      excludeCredentials: present.map(({ credentialId, transports }) => ({
        type: 'public-key' as const,
        id: credentialId,
        transports: [...transports],
      })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
      timeout: CHALLENGE_MS,
    };
  });
}

/** A new passkey, and recovery codes if it is the first second factor of its user. */
export interface AddedPasskey {
  readonly passkey: ListedPasskey;
  readonly recoveryCodes: readonly string[] | null;
}

/**
 * Adds a passkey, with an entry in the audit log. From now on the password alone signs nobody in. The secret of an app that
 * is not confirmed goes, because it may have been begun without this factor.
 * @returns null if the answer of the authenticator is wrong or too old, or its passkey belongs to a user already
 * @throws RequestRefused PASSKEYS_NOT_CONFIGURED
 * @throws ChangeRefused `wrong_state` if none was begun
 */
export function confirmPasskey(
  options: FactorOptions,
  user: User,
  label: string,
  registration: PasskeyRegistration,
): Promise<AddedPasskey | null> {
  const relyingParty = configured(options);
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null || stored.passkeyChallenge === null) {
      throw new ChangeRefused('wrong_state', 'No passkey waits for its confirmation. Begin one first.');
    }
    const challenge = stored.passkeyChallenge;
    if ((await timeOfChallenge(options.keys, 'registration', challenge, options.nowSeconds() * 1000)) === null)
      return null;
    const verified = await verifyRegistration(relyingParty, registration, challenge);
    if (verified === null) return null;
    const id = randomUUID();
    const { rowCount } = await db.query(
      `insert into passkeys (id, user_id, credential_id, public_key, rp_id, transports, label, was_verified, sign_count)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (credential_id) do nothing`,
      [
        id,
        user.id,
        verified.credentialId,
        Buffer.from(verified.publicKey),
        relyingParty.id,
        registration.response.transports ?? [],
        label,
        verified.wasVerified,
        verified.signCount,
      ],
    );
    if (rowCount !== 1) return null;
    const made = isInForce(stored) ? null : await newRecoveryCodes(options.keys, user.id);
    await db.query(
      `update users set passkey_ids = array_append(passkey_ids, $2::uuid), passkey_challenge = null,
              totp_secret = case when totp_confirmed_at is not null then totp_secret end,
              totp_last_step = case when totp_confirmed_at is not null then totp_last_step end,
              recovery_digests = coalesce($3, recovery_digests) where id = $1`,
      [user.id, id, made?.digests ?? null],
    );
    await noteChange({ ...options, db }, user, 'user.add_passkey', id);
    return { passkey: await readPasskey(db, user.id, id), recoveryCodes: made?.codes ?? null };
  });
}

/**
 * Renames a passkey, with an entry in the audit log.
 * @throws ChangeRefused `not_found`
 */
export function renamePasskey(options: FactorOptions, user: User, id: string, label: string): Promise<ListedPasskey> {
  return withTransaction(options.db, async (db) => {
    await readPasskey(db, user.id, id);
    await db.query('update passkeys set label = $3 where id = $1 and user_id = $2', [id, user.id, label]);
    await noteChange({ ...options, db }, user, 'user.rename_passkey', id);
    return readPasskey(db, user.id, id);
  });
}

/**
 * Removes a passkey of a user who proves possession of the second factor, and ends the user's other sign-ins, with an
 * entry in the audit log. After the last factor the password alone signs in again, so that nobody is locked out.
 * @returns false if the second factor was not proved
 * @throws ChangeRefused `not_found`
 */
export function removePasskey(
  options: FactorOptions,
  user: SignedInUser,
  id: string,
  presented: PresentedFactor,
): Promise<boolean> {
  return withTransaction(options.db, async (db) => {
    const stored = await readStoredFactor(db, options.keys, user.id, 'locked');
    if (stored === null) return false;
    if (!stored.passkeyIds.includes(id)) throw new ChangeRefused('not_found', `You have no passkey ${id}.`);
    if (!(await useFactor({ ...options, db }, user, stored, presented))) return false;
    await db.query('delete from passkeys where id = $1 and user_id = $2', [id, user.id]);
    await db.query(
      `update users set passkey_ids = nullif(array_remove(passkey_ids, $2::uuid), '{}'),
              recovery_digests = case when totp_confirmed_at is null and passkey_ids = array[$2::uuid] then '{}' else recovery_digests end
        where id = $1`,
      [user.id, id],
    );
    const ended = await endSignIns(db, user.id, { allBut: user.signInId }, 'ended_by_user');
    await noteChange({ ...options, db }, user, 'user.remove_passkey', id, { ended_sign_ins: ended });
    return true;
  });
}

const NOTICES = { 'user.add_passkey': 'passkey_added', 'user.remove_passkey': 'passkey_removed' } as const;

async function noteChange(
  { db, queueMail }: FactorOptions,
  { id, tenantId, email }: User,
  action: keyof typeof NOTICES | 'user.rename_passkey',
  passkeyId: string,
  details: JsonObject = {},
): Promise<void> {
  await appendAuditEntry(db, {
    tenantId,
    actor: { kind: 'user', userId: id },
    action,
    subject: { kind: 'user', id },
    details: { passkey_id: passkeyId, ...details },
  });
  if (action !== 'user.rename_passkey') await queueMail?.(db, noticeTo(email, NOTICES[action]));
}
