import { sign } from 'node:crypto';
import { mlDsaSeedOf } from '../../../schemas/crypto/derived-seed.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { mlDsa44Key } from '../../../schemas/crypto/ml-dsa.js';
import { type Checkpoint, checkpointText } from '../../../schemas/evidence/checkpoint.js';
import { formatCosignatureLine, subtreeMessage } from '../../../schemas/evidence/cosignature.js';
import { formatMlDsaTextLine } from '../../../schemas/evidence/ml-dsa-text.js';
import {
  formatSignatureLine,
  formatVerifierKey,
  keyLineOf,
  SIGNATURE_TYPES,
} from '../../../schemas/evidence/signed-note.js';
import { type Keyring, type SigningKey, seedOf } from '../../platform/keys/index.js';
import type { LedgerGuard } from './ledger-guard.js';

/**
 * The ledger's Ed25519 and ML-DSA-44 keys, which are derived from one secret. Signatures are deterministic. Each method
 * throws the errors of `LedgerGuard.check`; nothing is signed then.
 */
export interface LedgerSigner {
  /** Origin of the ledger: first line of its checkpoints and name of its keys. */
  readonly origin: string;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** ML-DSA-44, 1312 bytes. */
  readonly mlDsaPublicKey: Uint8Array;
  /** Returns the signature lines of both keys over a checkpoint. */
  signCheckpoint(checkpoint: Checkpoint): Promise<readonly string[]>;
  /** Returns the signature line of the Ed25519 key over a text. */
  signText(text: string): Promise<string>;
  /** Returns the signature line of the ML-DSA-44 key over a text (docs/evidence-format.md §7). */
  signTextMlDsa(text: string): Promise<string>;
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
  const mlDsa = mlDsa44Key(mlDsaSeedOf(seedOf(key), 'ledger'));
  const publicKey = new Uint8Array(key.publicKeyBytes);
  const signText = async (text: string): Promise<string> => {
    await guard.check();
    return formatSignatureLine(origin, publicKey, new Uint8Array(sign(null, utf8(text), key.privateKey)));
  };
  return {
    origin,
    publicKey,
    mlDsaPublicKey: mlDsa.publicKey,
    signText,
    async signTextMlDsa(text) {
      await guard.check();
      return formatMlDsaTextLine(origin, mlDsa.publicKey, mlDsa.sign(utf8(text)));
    },
    async signCheckpoint(checkpoint) {
      // The signature has no time, so that each size has exactly one note.
      const message = subtreeMessage(origin, 0, checkpoint);
      if (message === null) throw new RangeError('the origin of the ledger is longer than 255 bytes');
      const line = await signText(checkpointText(checkpoint));
      const mlDsaKey = { name: origin, publicKey: mlDsa.publicKey, type: SIGNATURE_TYPES.mlDsa };
      return [line, formatCosignatureLine(mlDsaKey, 0, mlDsa.sign(message))];
    },
  };
}

/** Returns the C2SP verifier-key line of the ledger's Ed25519 key, which identifies both keys in the ledger. */
export function verifierKeyOf(signer: Pick<LedgerSigner, 'origin' | 'publicKey'>): string {
  return formatVerifierKey(signer.origin, signer.publicKey);
}

/** Returns the C2SP verifier-key line of the ledger's ML-DSA-44 key. */
export function mlDsaVerifierKeyOf(signer: Pick<LedgerSigner, 'origin' | 'mlDsaPublicKey'>): string {
  return keyLineOf({ name: signer.origin, publicKey: signer.mlDsaPublicKey, type: SIGNATURE_TYPES.mlDsa });
}
