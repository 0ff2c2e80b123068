import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';

/** The ledger's Ed25519 key. */
export interface LedgerSigner {
  /** Origin of the ledger: first line of its checkpoints and name of its key. */
  readonly origin: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** @returns 64 bytes, identical for identical messages (RFC 8032) */
  sign(message: Uint8Array): Uint8Array;
}

/** Returns the C2SP verifier-key line of the ledger. */
export function verifierKeyOf(signer: LedgerSigner): string {
  return formatVerifierKey(signer.origin, signer.publicKey);
}
