import { writeFile } from 'node:fs/promises';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { withBridgesOf } from '../compare/compare.js';
import { proofOfEntry } from '../compare/entry-conflict.js';
import { type History, historyOfPackage } from '../compare/history.js';
import { openFileSource } from '../container/file-source.js';
import { asciiJson } from '../report/printable.js';
import type { VerificationReport } from '../report/report.js';
import { type LedgerKeyOptions, readTrustedLedgerKeys } from './given-trust.js';
import { readPromise } from './promise-command.js';
import type { Warn } from './trust-files.js';
import { UsageError } from './usage-error.js';

/**
 * Writes the proof that a promise was broken, if the package holds another record under the promised
 * event id. A record that is missing has no short proof: promise and package prove it together.
 * @throws UsageError if the file exists or cannot be written
 */
export async function writeBreach(
  packageFile: string,
  file: string,
  { promises }: VerificationReport,
  options: LedgerKeyOptions,
  { warn }: { readonly warn: Warn },
): Promise<void> {
  const breach = promises.find(({ contradicted }) => contradicted);
  if (breach === undefined) {
    if (promises.some(({ outcome }) => outcome === 'broken'))
      warn(`${file} was not written: the promise and the package together are the proof. Keep both.`);
    return;
  }
  const source = await openFileSource(packageFile);
  try {
    const keys = await readTrustedLedgerKeys(options);
    const history = await historyOfPackage(source, keys, { trustAnchors: [], at: new Date() });
    const second = history === null ? null : await proofOf(history, breach.event_id ?? '');
    if (history === null || second === null) throw new UsageError(`${packageFile} does not contain the proof`);
    const promise = await readPromise(breach.file);
    const proof = withBridgesOf(history, { kind: 'promise', promise, second });
    await writeFile(file, `${asciiJson(proof)}\n`, { flag: 'wx' }).catch((error: unknown) => {
      throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : 'unknown error'}`);
    });
  } finally {
    await source.close();
  }
}

async function proofOf(history: History, eventId: string) {
  const { files } = history;
  if (files === null) return null;
  for await (const { value } of files.lines(PACKAGE_FILES.entries, EntryLine, 'entry.format')) {
    if (value.entry.includes(`"event_id":"${eventId}"`)) return proofOfEntry(history, value);
  }
  return null;
}
