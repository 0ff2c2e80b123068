import { readFile } from 'node:fs/promises';
import yauzl from 'yauzl';
import { decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { Entry } from '../../../schemas/evidence/entry.js';
import { Manifest } from '../../../schemas/evidence/manifest.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { memorySource, type VerificationReport, verifyPackage } from '../../../verifier-cli/src/index.js';
import type { LedgerWorld } from './ledger-world.js';

/** The files of a package by name. */
export async function unpack(path: string): Promise<Map<string, Buffer>> {
  const zip = await yauzl.openPromise(path);
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    const parts: Buffer[] = [];
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(Buffer.from(part));
    files.set(entry.fileName, Buffer.concat(parts));
  }
  return files;
}

export function manifestOf(files: Map<string, Buffer>): Manifest {
  return Manifest.parse(JSON.parse(String(files.get(PACKAGE_FILES.manifest))));
}

export interface PackageEntry {
  readonly line: EntryLine;
  readonly entry: Entry;
  /** Disclosed values by name. */
  readonly values: Readonly<Record<string, unknown>>;
}

export function entriesOf(files: Map<string, Buffer>): PackageEntry[] {
  const lines = String(files.get(PACKAGE_FILES.entries)).split('\n').slice(0, -1);
  return lines.map((text) => {
    const line = EntryLine.parse(JSON.parse(text));
    const disclosed = line.disclosures.map((disclosure) => decodeDisclosure(disclosure));
    return {
      line,
      entry: Entry.parse(JSON.parse(line.entry)),
      values: Object.fromEntries(disclosed.map((value) => [value?.name ?? '', value?.value])),
    };
  });
}

/** Verifies a package with the verifier's code, the world's root certificate and its ledger key. */
export async function verify(world: LedgerWorld, path: string): Promise<VerificationReport> {
  return verifyPackage(memorySource(new Uint8Array(await readFile(path))), {
    trustAnchors: [world.tsaRoot],
    ledgerKeys: [world.ledgerKey],
    maxDelay: 24 * 3_600_000,
    at: new Date(),
  });
}

/** The failed and the undecided checks of a report. */
export function problemsOf(report: VerificationReport): string[] {
  return report.checks
    .filter((check) => check.outcome === 'fail' || (check.outcome === 'indeterminate' && check.required))
    .map((check) => `${check.id}: ${check.message}`);
}
