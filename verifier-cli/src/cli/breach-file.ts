import { writeFile } from 'node:fs/promises';
import { breachProof } from '../compare/breach-proof.js';
import { asciiJson } from '../rendering/printable.js';
import type { VerificationReport } from '../report/report.js';
import { type LedgerKeyOptions, readTrustedLedgerKeys } from './given-trust.js';
import { openInput } from './input-files.js';
import { readPromise } from './promise-command.js';
import type { Warn } from './trust-files.js';
import { UsageError } from './usage-error.js';

/**
 * Writes the proof that a promise was broken, if the package holds another record under the promised event id. There is
 * no short proof for a missing record: promise and package together prove it.
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
  const source = await openInput(packageFile);
  try {
    const broken = { promise: await readPromise(breach.file), eventId: breach.event_id ?? '' };
    const proof = await breachProof(source, broken, await readTrustedLedgerKeys(options));
    if (proof === null) throw new UsageError(`${packageFile} does not contain the proof`);
    await writeFile(file, `${asciiJson(proof)}\n`, { flag: 'wx' }).catch((error: unknown) => {
      throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : 'unknown error'}`);
    });
  } finally {
    await source.close();
  }
}
