import { createPublicKey, randomBytes, sign } from 'node:crypto';
import * as z from 'zod';
import { mlDsaSeedOf } from '../../../../schemas/crypto/derived-seed.js';
import { ed25519PrivateKey } from '../../../../schemas/crypto/ed25519-private-key.js';
import {
  concatBytes,
  decodeUtf8,
  equalBytes,
  fromBase64,
  fromHex,
  toBase64,
  toHex,
} from '../../../../schemas/crypto/encoding.js';
import { mlDsa44Key } from '../../../../schemas/crypto/ml-dsa.js';
import { parseCheckpoint } from '../../../../schemas/evidence/checkpoint.js';
import { cosignatureMessage, formatCosignatureLine, subtreeMessage } from '../../../../schemas/evidence/cosignature.js';
import { keyLineOf, noteKeyId, SIGNATURE_TYPES } from '../../../../schemas/evidence/signed-note.js';
import { readSmallFile } from '../../cli/input-files.js';
import { UsageError } from '../../cli/usage-error.js';
import { codeOf, createFile } from '../durable-file.js';

/** The key of a witness. */
export interface WitnessSigner {
  /** Verifier-key lines of types 0x04 and 0x06, for those who trust the witness. */
  readonly verifierKeys: readonly string[];
  /**
   * Cosigns the text of a checkpoint with both keys (c2sp.org/tlog-cosignature).
   * @returns the signature lines, each with its line feed
   */
  cosign(noteText: string, time: Date): string;
}

const SEED_BYTES = 32;
const PublicJwk = z.object({ x: z.base64url() });

/**
 * Creates a key and writes its file, which must not exist.
 * @param name name of the witness: a URL without its scheme, such as `witness.example.org/w1`
 * @throws UsageError
 */
export async function createWitnessKey(path: string, name: string): Promise<WitnessSigner> {
  if (!/^[^+\s]{1,200}$/.test(name))
    throw new UsageError(`“${name}” is not a name: write at most 200 characters without spaces and +`);
  const seed = new Uint8Array(randomBytes(SEED_BYTES));
  const signer = signerOf(name, seed);
  const typed = concatBytes(Uint8Array.of(SIGNATURE_TYPES.cosignature), seed);
  const id = toHex(noteKeyId(name, publicKeyOf(seed), SIGNATURE_TYPES.cosignature));
  try {
    await createFile(path, `PRIVATE+KEY+${name}+${id}+${toBase64(typed)}\n`);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new UsageError(`${path} exists and was not overwritten: leave out --new-key, or give another file`);
  }
  return signer;
}

/** Reads the file of a key. @throws UsageError if it is not a key file */
export async function readWitnessKey(path: string): Promise<WitnessSigner> {
  const line = decodeUtf8(await readSmallFile(path))?.trim() ?? '';
  const [, name, id, encoded] = /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
  const typed = encoded === undefined ? null : fromBase64(encoded);
  const seed = typed?.slice(1);
  if (name === undefined || typed?.[0] !== SIGNATURE_TYPES.cosignature || seed?.length !== SEED_BYTES)
    throw new UsageError(`${path} is not the key of a witness: create one with --new-key NAME`);
  const keyId = fromHex(id ?? '');
  if (keyId === null || !equalBytes(keyId, noteKeyId(name, publicKeyOf(seed), SIGNATURE_TYPES.cosignature)))
    throw new UsageError(`${path} is damaged: its key id does not match its key`);
  return signerOf(name, seed);
}

function signerOf(name: string, seed: Uint8Array): WitnessSigner {
  const privateKey = ed25519PrivateKey(seed);
  const mlDsa = mlDsa44Key(mlDsaSeedOf(seed, 'witness'));
  const key = { name, publicKey: publicKeyOf(seed), type: SIGNATURE_TYPES.cosignature };
  const mlDsaKey = { name, publicKey: mlDsa.publicKey, type: SIGNATURE_TYPES.mlDsa };
  return {
    verifierKeys: [keyLineOf(key), keyLineOf(mlDsaKey)],
    cosign: (noteText, time) => {
      const seconds = Math.floor(time.getTime() / 1000);
      const signature = new Uint8Array(sign(null, cosignatureMessage(seconds, noteText), privateKey));
      const checkpoint = parseCheckpoint(noteText);
      const message = checkpoint === null ? null : subtreeMessage(name, seconds, checkpoint);
      if (message === null) throw new RangeError('the text is no checkpoint, or its origin is too long');
      return (
        formatCosignatureLine(key, seconds, signature) + formatCosignatureLine(mlDsaKey, seconds, mlDsa.sign(message))
      );
    },
  };
}

function publicKeyOf(seed: Uint8Array): Uint8Array {
  const { x } = PublicJwk.parse(createPublicKey(ed25519PrivateKey(seed)).export({ format: 'jwk' }));
  return new Uint8Array(Buffer.from(x, 'base64url'));
}
