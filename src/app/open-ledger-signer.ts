import { sign } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type LedgerSigner, verifierKeyOf } from '../pipeline/ledger/ledger-signer.js';
import type { Config } from '../platform/config/index.js';
import type { Keyring, SigningKey } from '../platform/keys/index.js';

/** Opens the signer with the ledger's key and the configured origin. */
export async function openLedgerSigner(keyring: Keyring, config: Config): Promise<LedgerSigner> {
  return ledgerSignerOf(await keyring.ledgerKey(), config.ledgerOrigin);
}

/** Makes a signer for a key and an origin. */
export function ledgerSignerOf(key: SigningKey, origin: string): LedgerSigner {
  return {
    origin,
    publicKey: new Uint8Array(key.publicKeyBytes),
    sign: (message) => new Uint8Array(sign(null, message, key.privateKey)),
  };
}

/** Path of the file with the ledger's public key, for verifiers: a C2SP verifier-key line. */
export function ledgerKeyFile(config: Config): string {
  return join(config.dataDir, 'ledger.vkey');
}

/** Writes the public key to its file, for operators and `admin seed-demo`. */
export async function publishLedgerKeyFile(config: Config, signer: LedgerSigner): Promise<void> {
  const path = ledgerKeyFile(config);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${verifierKeyOf(signer)}\n`);
  await rename(temporary, path);
}
