import { randomBytes } from 'node:crypto';
import { toBase64 } from '../../../schemas/crypto/encoding.js';
import { LEDGER_KEY_PUBLISHED } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from './append-to-ledger.js';
import { catchUpLedger } from './apply-ledger.js';
import { LedgerKeyMismatch } from './errors.js';
import { type LedgerSigner, mlDsaVerifierKeyOf, verifierKeyOf } from './ledger-signer.js';
import type { FollowedLedger } from './ledger-state.js';
import { SALT_KEY_BYTES } from './stream-keys.js';

/**
 * Publishes the ledger's key as its first event, or verifies that the published key is the
 * signer's. Any number of processes may do this concurrently.
 * @param now time for `created_at` of the event
 * @returns the state with the published key
 * @throws LedgerKeyMismatch
 * @throws LogBehind if the log ends before the applied events
 * @throws the errors of `catchUpLedger` and `tryAppendToLedger`
 */
export async function ensureKeyPublished(
  db: Queryable,
  eventLog: EventLog,
  signer: LedgerSigner,
  now: () => Date,
): Promise<FollowedLedger> {
  const key = verifierKeyOf(signer);
  for (;;) {
    const state = await catchUpLedger(db, eventLog);
    if (state.key === key && state.mlDsaKey === mlDsaVerifierKeyOf(signer)) return state;
    if (state.key !== null) throw new LedgerKeyMismatch(state.key, key);
    const event = ledgerEvent(LEDGER_KEY_PUBLISHED, {
      v: 1,
      created_at: now().toISOString(),
      key,
      ml_dsa_key: mlDsaVerifierKeyOf(signer),
      salt_key: toBase64(randomBytes(SALT_KEY_BYTES)),
    });
    await tryAppendToLedger(eventLog, state, event);
  }
}
