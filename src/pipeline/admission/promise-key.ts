import { promiseKeyText } from '../../../schemas/evidence/promise.js';
import { formatNote } from '../../../schemas/evidence/signed-note.js';
import type { Keyring } from '../../platform/keys/index.js';
import { type LedgerSignerOptions, openLedgerSigner } from '../ledger/ledger-signer.js';
import type { PromiseKey } from './promises.js';

export interface CertifiedPromiseKeyOptions extends LedgerSignerOptions {
  /** Creates the keys at first use. */
  readonly keyring: Pick<Keyring, 'ledgerKey' | 'promiseKey'>;
}

/**
 * Reads the promise key and certifies it with the current Ed25519 key of the ledger: every answer
 * carries the certificate, and a signature of ML-DSA-44 has 3 KB. An Ed25519 signature is
 * a function of key and text (RFC 8032), so every process makes the same certificate, and none is
 * stored. Call it at start, and regularly: another process may have rotated the ledger's key.
 * @throws KeyError, database errors; the errors of `LedgerSigner`
 */
export async function certifiedPromiseKey(options: CertifiedPromiseKeyOptions): Promise<PromiseKey> {
  const key = await options.keyring.promiseKey();
  const signer = await openLedgerSigner(options);
  const text = promiseKeyText(signer.origin, key.publicKeyBytes);
  return { key, certificate: formatNote(text, [await signer.signText(text)]) };
}
