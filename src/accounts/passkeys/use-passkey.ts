import * as z from 'zod';
import type { PasskeyAssertion } from '../../../schemas/api/passkeys.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { type Keyring, readSealed, SealedBytes } from '../../platform/keys/index.js';
import { type User, UserRow } from '../users/user-directory.js';
import { type ChallengeUse, timeOfChallenge } from './challenges.js';
import type { RelyingParty } from './relying-party.js';
import { challengeIn, verifyAssertion, wentBack } from './web-authn.js';

/** Dependencies of passkeys. */
export interface PasskeyOptions {
  /** Connections in the role `consent_ledger_admin`. */
  readonly db: Queryable;
  readonly keys: Pick<Keyring, 'accountKey' | 'open'>;
  /** Null if this installation has no passkeys. */
  readonly relyingParty: RelyingParty | null;
  /** @returns Unix time in seconds */
  readonly nowSeconds: () => number;
}

const StoredPasskey = z.object({
  id: z.string(),
  user_id: z.string(),
  public_key: SealedBytes,
  rp_id: z.string(),
  sign_count: z.int(),
  last_challenge: z.int().nullable(),
});

/** Identifier of a user towards authenticators: the 16 bytes of the UUID in base64url. It names no person. */
export function userHandle(userId: string): string {
  return Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
}

/**
 * Checks a passkey of a user, and uses up its challenge: a challenge that is not newer than the last one is refused. The
 * use is entered in the audit log, and so is a counter that goes back.
 * @param options `db`: a transaction that has locked the row of the user
 * @param passkeyIds the passkeys that this row lists
 * @returns null if the passkey is refused; otherwise whether the authenticator verified the person
 */
export async function usePasskey(
  { db, keys, relyingParty, nowSeconds }: PasskeyOptions,
  { id: userId, tenantId }: Pick<User, 'id' | 'tenantId'>,
  passkeyIds: readonly string[],
  assertion: PasskeyAssertion,
  use: ChallengeUse,
): Promise<{ readonly isVerified: boolean } | null> {
  const challenge = challengeIn(assertion.response.clientDataJSON);
  if (relyingParty === null || challenge === null) return null;
  const time = await timeOfChallenge(keys, use, challenge, nowSeconds() * 1000);
  const query = { table: 'passkeys', where: 'credential_id = $1', values: [assertion.id] } as const;
  const stored = await readSealed(db, keys, query, StoredPasskey);
  if (time === null || stored === null || stored.user_id !== userId || !passkeyIds.includes(stored.id)) return null;
  if (stored.rp_id !== relyingParty.id || time <= (stored.last_challenge ?? 0)) return null;
  const handle = assertion.response.userHandle ?? null;
  if (handle !== null && handle !== userHandle(userId)) return null;
  const verified = await verifyAssertion(relyingParty, assertion, challenge, stored.public_key);
  if (verified === null) return null;
  const { signCount, isVerified } = verified;
  const isCopied = wentBack(stored.sign_count, signCount);
  // A copy that is ahead of the original is noticed at the next use of the original, if the counter is kept.
  await db.query(
    `update passkeys set last_challenge = $2, sign_count = greatest(sign_count, $3), last_used_at = case when $4 then last_used_at else now() end
      where id = $1`,
    [stored.id, time, signCount, isCopied],
  );
  const passkey_id = stored.id;
  const noted = isCopied
    ? ({
        actor: { kind: 'service' },
        action: 'user.refuse_passkey',
        details: { passkey_id, reason: 'counter_went_back' },
      } as const)
    : ({ actor: { kind: 'user', userId }, action: 'user.use_passkey', details: { passkey_id, use } } as const);
  await appendAuditEntry(db, { tenantId, subject: { kind: 'user', id: userId }, ...noted });
  return isCopied ? null : { isVerified };
}

/** A user who signs in, and the hash of the password at that time. */
interface PasskeyUser {
  readonly user: User;
  readonly passwordHash: string;
}

const LockedUser = z
  .looseObject({ password_hash: z.string(), passkey_ids: z.array(z.string()).nullable() })
  .transform((row) => ({
    user: UserRow.parse(row),
    passwordHash: row.password_hash,
    passkeyIds: row.passkey_ids ?? [],
  }));

/**
 * Finds the user who signs in with a passkey alone. The authenticator must have verified the person.
 * @returns null if the passkey is refused, and for a disabled user; the caller does not learn why
 * @throws RequestRefused PASSKEY_INVALID with its reason if only the verification of the person is missing
 */
export async function userOfPasskey(options: PasskeyOptions, assertion: PasskeyAssertion): Promise<PasskeyUser | null> {
  const challenge = challengeIn(assertion.response.clientDataJSON) ?? '';
  // Whoever has no challenge of the service reaches no database.
  const nowMs = options.nowSeconds() * 1000;
  if ((await timeOfChallenge(options.keys, 'sign_in', challenge, nowMs)) === null) return null;
  return withTransaction(options.db, async (db) => {
    const where = `id = (select user_id from passkeys where credential_id = $1) and disabled_at is null for no key update`;
    const found = await readSealed(db, options.keys, { table: 'users', where, values: [assertion.id] }, LockedUser);
    if (found === null) return null;
    const { user, passwordHash, passkeyIds } = found;
    const used = await usePasskey({ ...options, db }, user, passkeyIds, assertion, 'sign_in');
    if (used === null) return null;
    if (!used.isVerified) {
      throw new RequestRefused(
        'PASSKEY_INVALID',
        'The authenticator did not verify the person by PIN, fingerprint or face. Sign in with the password, and use this passkey as the second factor.',
      );
    }
    return { user, passwordHash };
  });
}
