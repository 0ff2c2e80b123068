import { sign } from 'node:crypto';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { promiseKeyText } from '../../../schemas/evidence/promise.js';
import { formatNote, formatSignatureLine } from '../../../schemas/evidence/signed-note.js';
import type { Keyring } from '../../platform/keys/index.js';
import type { PromiseKey } from './promises.js';

export interface CertifiedPromiseKeyOptions {
  /** Creates the keys at first use. */
  readonly keyring: Pick<Keyring, 'ledgerKey' | 'promiseKey'>;
  /** Origin of the ledger. */
  readonly origin: string;
}

/**
 * Reads the promise key and certifies it with the current key of the ledger. An Ed25519 signature is
 * a function of key and text (RFC 8032), so every process makes the same certificate, and none is
 * stored. Call it at start, and regularly: another process may have rotated the ledger's key.
 * @throws KeyError, database errors
 */
export async function certifiedPromiseKey({ keyring, origin }: CertifiedPromiseKeyOptions): Promise<PromiseKey> {
  const key = await keyring.promiseKey();
  const ledgerKey = await keyring.ledgerKey();
  const text = promiseKeyText(origin, key.publicKeyBytes);
  const signature = sign(null, utf8(text), ledgerKey.privateKey);
  const certificate = formatNote(text, [formatSignatureLine(origin, ledgerKey.publicKeyBytes, signature)]);
  return { key, certificate };
}
