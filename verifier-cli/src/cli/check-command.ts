import { realpath, writeFile } from 'node:fs/promises';
import { ConsentList } from '../list/consent-list.js';
import { UnknownFormatVersion } from '../manifest/manifest.js';
import type { GivenPromise } from '../promises/promised-records.js';
import { asciiJson } from '../rendering/printable.js';
import { htmlPage } from '../report/html.js';
import type { VerificationReport } from '../report/report.js';
import { reportPage, SHOWN_RECORDS } from '../report/report-page.js';
import { terminalReport } from '../report/terminal.js';
import { type Collectors, NotAPackage, verifyPackage } from '../verify-package.js';
import { writeBreach } from './breach-file.js';
import { mayBeContradiction, runCheckContradiction } from './contradiction-command.js';
import { EXIT_CODES } from './exit-codes.js';
import { readTrust, type TrustOptions } from './given-trust.js';
import { openInput } from './input-files.js';
import { parseDuration, parseLanguage, parseStamps, parseTime } from './options.js';
import { Progress, type ProgressOutput } from './progress.js';
import { readPromise } from './promise-command.js';
import type { Warn } from './trust-files.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify check`, as commander gives them. */
export interface CheckOptions extends TrustOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  /** Language of the report: `en` or `tr`. */
  readonly language: string;
  /** File to which the report is written as a page. */
  readonly html?: string;
  readonly maxDelay?: string;
  readonly maxAge?: string;
  readonly requireStamps: string;
  readonly at?: string;
  /** The person whose records the package must have: the value of `visitor_id`. */
  readonly person?: string;
  /** Files with promises of the service. */
  readonly promise?: readonly string[];
  /** File to which the proof of a broken promise is written. */
  readonly contradiction?: string;
}

/** Outputs of a command. */
export interface Output {
  readonly out: (text: string) => unknown;
  readonly progress: ProgressOutput;
  /** Reports input that is ignored. */
  readonly warn: Warn;
}

/**
 * Checks a package, or a proof of a contradiction that `compare` wrote, and prints the report.
 * @returns the exit code, which is also 0 for a proved contradiction
 * @throws UsageError
 */
export async function runCheck(path: string, options: CheckOptions, output: Output): Promise<number> {
  if (await mayBeContradiction(path)) {
    if (options.html !== undefined)
      throw new UsageError('--html applies to packages only, and this file is a contradiction proof');
    return runCheckContradiction(path, options, output.out, 'neither an evidence package nor a contradiction proof');
  }
  // Records are only needed for the page.
  const list = options.html === undefined ? null : new ConsentList(SHOWN_RECORDS);
  const texts = parseLanguage(options.language);
  const report = await verifyFile(path, options, output, { list });
  if (options.contradiction !== undefined) await writeBreach(path, options.contradiction, report, options, output);
  if (options.html !== undefined)
    await writePage(
      options.html,
      path,
      htmlPage(texts.report.fileTitle, texts.language, reportPage(report, texts, list?.listing ?? null)),
    );
  output.out(options.json === true ? `${asciiJson(report)}\n` : terminalReport(report, texts, options.verbose));
  return EXIT_CODES[report.verdict];
}

/**
 * Verifies the package in a file, with its progress shown.
 * @throws UsageError if the options or the file cannot be used
 */
export async function verifyFile(
  path: string,
  options: Omit<CheckOptions, 'html' | 'json' | 'verbose' | 'language'>,
  output: Output,
  collectors: Collectors = {},
): Promise<VerificationReport> {
  const trust = await readTrust(options, output.warn);
  const requireStamps = parseStamps(options.requireStamps);
  const limits = {
    ...(options.maxDelay !== undefined && { maxDelay: parseDuration(options.maxDelay) }),
    ...(options.maxAge !== undefined && { maxAge: parseDuration(options.maxAge) }),
    ...(options.person !== undefined && { person: options.person }),
  };
  const promises: GivenPromise[] = [];
  for (const file of options.promise ?? []) promises.push({ file, promise: await readPromise(file) });
  const at = options.at === undefined ? new Date() : parseTime(options.at);
  const source = await openInput(path);
  const progress = new Progress(output.progress, Date.now);
  try {
    const given = {
      ...trust,
      requireStamps,
      promises,
      ...limits,
      at,
      onProgress: progress.update,
    };
    return await verifyPackage(source, given, collectors);
  } catch (error) {
    if (error instanceof NotAPackage) throw new UsageError(`${path}: ${error.message}`);
    if (error instanceof UnknownFormatVersion)
      throw new UsageError(`${path}: ${error.message}`, EXIT_CODES.indeterminate);
    throw error;
  } finally {
    progress.clear();
    await source.close();
  }
}

/** Writes a page to a file, which must not be the package that it is about. @throws UsageError */
export async function writePage(file: string, packageFile: string, page: string, option = '--html'): Promise<void> {
  const existing = await realpath(file).catch(() => null);
  if (existing !== null && existing === (await realpath(packageFile)))
    throw new UsageError(`${file} is the package itself and was not overwritten: give another file to ${option}`);
  await writeFile(file, page).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : 'unknown error'}`);
  });
}
