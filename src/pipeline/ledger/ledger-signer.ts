import { sign } from 'node:crypto';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { Keyring, SigningKey } from '../../platform/keys/index.js';
import type { LedgerGuard } from './ledger-guard.js';

/** The ledger's Ed25519 key. */
export interface LedgerSigner {
  /** Origin of the ledger: first line of its checkpoints and name of its key. */
  readonly origin: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /**
   * @returns 64 bytes, identical for identical messages (RFC 8032)
   * @throws the errors of `LedgerGuard.check`: then nothing is signed
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

export interface LedgerSignerOptions {
  readonly keyring: Pick<Keyring, 'ledgerKey'>;
  /** Origin of the ledger. */
  readonly origin: string;
  /** Asked before each signature. */
  readonly guard: LedgerGuard;
}

/** Opens the signer with the ledger's current key. */
export async function openLedgerSigner({ keyring, origin, guard }: LedgerSignerOptions): Promise<LedgerSigner> {
  return ledgerSignerOf(await keyring.ledgerKey(), origin, guard);
}

/** The only place that signs with a key of the ledger. */
export function ledgerSignerOf(key: SigningKey, origin: string, guard: LedgerGuard): LedgerSigner {
  return {
    origin,
    publicKey: new Uint8Array(key.publicKeyBytes),
    sign: async (message) => {
      await guard.check();
      return new Uint8Array(sign(null, message, key.privateKey));
    },
  };
}

/** Returns the C2SP verifier-key line of the ledger. */
export function verifierKeyOf(signer: Pick<LedgerSigner, 'origin' | 'publicKey'>): string {
  return formatVerifierKey(signer.origin, signer.publicKey);
}
