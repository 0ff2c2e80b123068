import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { corpusCases } from './corpus-cases.js';

/**
 * Writes a corpus: the packages, the index, and the roots and keys that it refers to. Into the folder
 * of the repository, the cases that its index has; into another one, all of them.
 */
const [source, folder] = process.argv.slice(2);
if (source === undefined || folder === undefined) throw new Error('the folders of the corpus are not given');

const Index = z.looseObject({ cases: z.array(z.looseObject({ file: z.string() })) });
const index = Index.parse(JSON.parse(readFileSync(join(source, 'index.json'), 'utf8')));
const kept = new Set(index.cases.map(({ file }) => file));
const isWhole = resolve(source) !== resolve(folder);
const all = corpusCases(source);
if (new Set(all.map(({ file }) => file)).size !== all.length) throw new Error('two cases have the same file');
const cases = all.filter(({ file }) => isWhole || kept.has(file)).map(({ make }) => make());
if (isWhole)
  for (const name of ['README.md', 'keys']) cpSync(join(source, name), join(folder, name), { recursive: true });
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
const written = cases.map(
  ({ zip, file, contentSha256, tsaCa, ledgerKeys, maxDelayMs, requireStamps, at, ...about }) => {
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
  },
);
put(
  'index.json',
  `${JSON.stringify({ format: 'consent-ledger-evidence-corpus', version: 1, cases: written }, null, 1)}\n`,
);
process.stdout.write(`${written.length} packages, ${(bytes / 1024 / 1024).toFixed(1)} MiB\n`);
