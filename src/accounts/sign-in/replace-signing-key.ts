import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import {
  ACCESS_TOKEN_SECONDS,
  KEY_AT_ONCE_SECONDS,
  KEY_PUBLISHED_AHEAD_SECONDS,
  KEY_SLACK_SECONDS,
} from '../credentials/lifetimes.js';

/** How the key of access tokens was replaced. */
export interface ReplacedSigningKey {
  readonly keyId: string;
  /** Seconds from now. */
  readonly signsIn: number;
  /** Seconds from now. */
  readonly formerVerifiesFor: number;
}

/**
 * Makes a new key of access tokens. It is published at once and signs once whoever keeps the published keys for minutes has seen it; the one before it
 * verifies until every token by it has expired. Processes need no restart, and nobody is signed out.
 * @param db in the role `consent_ledger_worker`
 * @param atOnce the key before it is in wrong hands: in seconds it verifies nothing any more, and clients renew their access tokens
 */
export async function replaceSigningKey(
  db: Queryable,
  keyring: Pick<Keyring, 'replaceJwtKey'>,
  atOnce: boolean,
): Promise<ReplacedSigningKey> {
  const signsIn = atOnce ? KEY_AT_ONCE_SECONDS : KEY_PUBLISHED_AHEAD_SECONDS;
  const formerVerifiesFor = atOnce ? signsIn : signsIn + ACCESS_TOKEN_SECONDS + KEY_SLACK_SECONDS;
  const keyId = await keyring.replaceJwtKey(db, { signsIn, formerVerifiesFor });
  return { keyId, signsIn, formerVerifiesFor };
}
