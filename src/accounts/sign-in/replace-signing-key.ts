import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import {
  ACCESS_TOKEN_SECONDS,
  KEY_AT_ONCE_SECONDS,
  KEY_PUBLISHED_AHEAD_SECONDS,
  KEY_SLACK_SECONDS,
} from '../credentials/lifetimes.js';

/** The new access-token key and the times of the replacement. */
export interface ReplacedSigningKey {
  readonly keyId: string;
  /** Seconds until the new key signs; 0 for the first key of the installation. */
  readonly signsIn: number;
  /** Seconds until the former key no longer verifies. */
  readonly formerVerifiesFor: number;
}

/**
 * Replaces the key of access tokens. The new key is published immediately, and signs once caches of
 * the published keys have expired. The former key verifies until its last token has expired. No
 * restart is needed, and users remain signed in.
 * @param db in the role `consent_ledger_worker`
 * @param atOnce true if the former key is compromised: it stops verifying within seconds, and
 *   clients renew their access tokens
 */
export async function replaceSigningKey(
  db: Queryable,
  keyring: Pick<Keyring, 'replaceJwtKey'>,
  atOnce: boolean,
): Promise<ReplacedSigningKey> {
  const signsIn = atOnce ? KEY_AT_ONCE_SECONDS : KEY_PUBLISHED_AHEAD_SECONDS;
  const formerVerifiesFor = atOnce ? signsIn : signsIn + ACCESS_TOKEN_SECONDS + KEY_SLACK_SECONDS;
  const { keyId, isFirst } = await keyring.replaceJwtKey(db, { signsIn, formerVerifiesFor });
  if (isFirst) return { keyId, signsIn: 0, formerVerifiesFor: 0 };
  return { keyId, signsIn, formerVerifiesFor };
}
