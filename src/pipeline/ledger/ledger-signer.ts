import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';

/** The ledger's Ed25519 key. */
export interface LedgerSigner {
  /** Origin of the ledger: first line of its checkpoints, and the name of its key. */
  readonly origin: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** @returns 64 bytes; the same for the same message (RFC 8032) */
  sign(message: Uint8Array): Uint8Array;
}

/** The C2SP verifier-key line of the ledger. */
export function verifierKeyOf(signer: LedgerSigner): string {
  return formatVerifierKey(signer.origin, signer.publicKey);
}
