import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { interopCases } from './interop-cases.js';
import { digestOf, forgedCases, statedCases } from './other-cases.js';

/**
 * Writes interop cases: the packages, the index, and the roots and keys that it refers to. Into the folder
 * of the repository, the cases that its index has; into another one, all of them.
 */
const [source, folder] = process.argv.slice(2);
if (source === undefined || folder === undefined) throw new Error('the folders of the cases are not given');

const Files = z.array(z.looseObject({ file: z.string() })).default([]);
const Index = z.looseObject({ cases: Files, contradictions: Files, structures: Files });
const index = Index.parse(JSON.parse(readFileSync(join(source, 'index.json'), 'utf8')));
const kept = new Set([...index.cases, ...index.contradictions, ...index.structures].map(({ file }) => file));
const isWhole = resolve(source) !== resolve(folder);
const isKept = ({ file }: { readonly file: string }): boolean => isWhole || kept.has(file);
const [all, forged, stated] = [interopCases(source), forgedCases(source), statedCases(source)];
const names = [...all, ...forged, ...stated].map(({ file }) => file);
if (new Set(names).size !== names.length) throw new Error('two cases have the same file');
const cases = all.filter(isKept).map(({ make }) => make());
if (isWhole)
  for (const name of ['README.md', 'keys']) cpSync(join(source, name), join(folder, name), { recursive: true });
for (const name of ['packages', 'promises', 'contradictions', 'structures', 'roots', 'ledger-keys'])
  rmSync(join(folder, name), { recursive: true, force: true });

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
  ({ zip, file, contentSha256, tsaCa, ledgerKeys, maxDelayMs, maxAgeMs, requireStamps, at, ...about }) => {
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
      max_age: maxAgeMs === null ? null : `${maxAgeMs / 1000}s`,
      require_stamps: requireStamps,
      at: at.toISOString(),
      not_by_script: about.notByScript,
      promises: [] as string[],
      content_sha256: contentSha256,
    };
  },
);
for (const { make, file, tsaCa, ledgerKeys, at, ...about } of forged.filter(isKept)) {
  const made = make();
  bytes += made.bytes.length;
  written.push({
    file: put(file, made.bytes),
    title: about.title,
    group: about.group,
    check: about.check,
    outcome: about.outcome,
    verdict: about.verdict,
    tsa_ca: tsaCa.map(putRoot),
    ledger_key: ledgerKeys.map(putLedgerKey),
    max_delay: null,
    max_age: null,
    require_stamps: 1,
    at: at.toISOString(),
    not_by_script: null,
    promises: made.promises.map((promise, i) =>
      put(`promises/${basename(file).replace(/\.\w+$/, '')}-${i + 1}.json`, `${JSON.stringify(promise)}\n`),
    ),
    content_sha256: digestOf(made.bytes),
  });
}
const others = { contradictions: [] as object[], structures: [] as object[] };
for (const { make, file, group, ledgerKeys, at, ...about } of stated.filter(isKept)) {
  const content = await make();
  bytes += content.length;
  others[group === 'contradictions' ? 'contradictions' : 'structures'].push({
    file: put(file, content),
    title: about.title,
    verdict: about.verdict,
    ledger_key: ledgerKeys.map(putLedgerKey),
    at: at.toISOString(),
    content_sha256: digestOf(content),
  });
}
const text = JSON.stringify({ format: 'consent-ledger-interop', version: 1, cases: written, ...others }, null, 1);
put('index.json', `${text}\n`);
const count = written.length + others.contradictions.length + others.structures.length;
process.stdout.write(`${count} cases, ${(bytes / 1024 / 1024).toFixed(1)} MiB\n`);
