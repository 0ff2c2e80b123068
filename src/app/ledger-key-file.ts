import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type LedgerSigner, verifierKeyOf } from '../pipeline/ledger/ledger-signer.js';
import type { Config } from '../platform/config/index.js';

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
