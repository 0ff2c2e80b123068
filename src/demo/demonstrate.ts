import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { removeEmbeddedPostgres } from '../platform/database/embedded/index.js';
import { VERIFIER } from './program.js';
import { runDemo } from './run-demo.js';

const output = resolve('demo-output');

/**
 * The demonstration ignores the configured database, keys and authorities, so that it changes only
 * its own data. `EVENTSTORE_URL` may name an empty server.
 */
const EMBEDDED_DEFAULT = {
  DATABASE_URL: '',
  MASTER_KEY: '',
  MASTER_KEY_FILE: '',
  TSA_URLS: '',
  TSA_CA_FILE: '',
  TSA_QUORUM: '',
  WITNESS_URLS: '',
  WITNESS_KEYS: '',
  ERASURE_JOURNAL: '',
};

const CONSENTS = 1000;
const FEWEST = 200;

/**
 * The demonstration. All its files are in `demo-output`. At the end, it removes its data folder and
 * keeps the evidence.
 * @param count number of consents
 * @throws Error for a number below 200; errors of each step
 */
export async function demonstrate(count: string = String(CONSENTS)): Promise<void> {
  const consents = Number(count);
  if (!Number.isInteger(consents) || consents < FEWEST)
    throw new Error(`"${count}" is not a number of consents from ${FEWEST}.`);
  const dataDir = join(output, 'data');
  await removeEmbeddedPostgres(dataDir);
  await rm(output, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const env = {
    ...process.env,
    ...EMBEDDED_DEFAULT,
    DATA_DIR: dataDir,
    PORT: '0',
    HOST: '127.0.0.1',
    BATCH_MAX_AGE_MS: '500',
    STAMP_INTERVAL_MS: '1000',
    ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1',
    LOG_LEVEL: 'warn',
  };
  const kept = await runDemo({ env, output, consents });
  const tsaRoot = join(output, 'tsa-root.pem');
  const ledgerKey = join(output, 'ledger.vkey');
  await copyFile(kept.tsaRoot, tsaRoot);
  await copyFile(kept.ledgerKey, ledgerKey);
  await removeEmbeddedPostgres(dataDir);
  await rm(dataDir, { recursive: true, force: true });

  const show = (path: string) => relative(process.cwd(), path);
  process.stdout.write(
    `\nYou can inspect the evidence package:\n` +
      `   unzip -l ${show(kept.evidence)}\n` +
      `   node ${show(VERIFIER)} check ${show(kept.evidence)} --tsa-ca ${show(tsaRoot)} --ledger-key ${show(ledgerKey)}\n` +
      `A development authority issued its time stamps: they show how the service works and prove nothing in court.\n`,
  );
}
