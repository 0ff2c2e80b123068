import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { corpusCases } from './corpus-cases.js';

/**
 * Writes the corpus into its folder: the packages, the index, and the roots and keys that it refers
 * to.
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('the folder of the corpus is not given');

const cases = corpusCases(folder);
for (const name of ['packages', 'roots', 'ledger-keys']) rmSync(join(folder, name), { recursive: true, force: true });

function put(name: string, content: Uint8Array | string): string {
  mkdirSync(dirname(join(folder ?? '', name)), { recursive: true });
  writeFileSync(join(folder ?? '', name), content);
  return name;
}

function putRoot(der: Uint8Array): string {
  const base64 = Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n');
  const pem = `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
  return put(`roots/${toHex(sha256(der)).slice(0, 8)}.pem`, pem);
}

function putLedgerKey(line: string): string {
  return put(`ledger-keys/${line.split('+')[1] ?? ''}.vkey`, `${line}\n`);
}

let bytes = 0;
const index = cases.map(({ zip, file, contentSha256, tsaCa, ledgerKeys, maxDelayMs, requireStamps, at, ...about }) => {
  bytes += zip.length;
  return {
    file: put(file, zip),
    title: about.title,
    group: about.group,
    check: about.check,
    outcome: about.outcome,
    verdict: about.verdict,
    tsa_ca: tsaCa.map(putRoot),
    ledger_key: ledgerKeys.map(putLedgerKey),
    max_delay: maxDelayMs === null ? null : `${maxDelayMs / 1000}s`,
    require_stamps: requireStamps,
    at: at.toISOString(),
    content_sha256: contentSha256,
  };
});
if (new Set(index.map(({ file }) => file)).size !== index.length) throw new Error('two cases have the same file');
put(
  'index.json',
  `${JSON.stringify({ format: 'consent-ledger-evidence-corpus', version: 1, cases: index }, null, 1)}\n`,
);
process.stdout.write(`${index.length} packages, ${(bytes / 1024 / 1024).toFixed(1)} MiB\n`);
