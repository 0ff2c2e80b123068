import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type LedgerHeadFile, openLedgerHeadFile } from '../pipeline/ledger/head-file.js';
import { type LedgerSigner, mlDsaVerifierKeyOf, verifierKeyOf } from '../pipeline/ledger/ledger-signer.js';
import type { Config } from '../platform/config/index.js';

/**
 * Opens the file with the ledger's head, in the folder of the erasure journal. Both must be stored apart from the
 * database.
 */
export function ledgerHeadFile(config: Config): LedgerHeadFile {
  return openLedgerHeadFile(join(dirname(config.erasureJournal), 'ledger-head.json'));
}

/** Path of the file with the ledger's public key, for verifiers: two C2SP verifier-key lines. */
export function ledgerKeyFile(config: Config): string {
  return join(config.dataDir, 'ledger.vkey');
}

/** Writes the public keys to their file, for operators and `admin seed-demo`. */
export async function publishLedgerKeyFile(config: Config, signer: LedgerSigner): Promise<void> {
  const path = ledgerKeyFile(config);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${verifierKeyOf(signer)}\n${mlDsaVerifierKeyOf(signer)}\n`);
  await rename(temporary, path);
}
