import { ConsentList, MAX_CONSENTS } from '../list/consent-list.js';
import { consentsCsv } from '../list/consents-csv.js';
import { consentsText, restText } from '../list/consents-text.js';
import { consentsOfPerson } from '../list/select-consents.js';
import { asciiJson } from '../rendering/printable.js';
import { asOfText } from '../rendering/times-text.js';
import { loudVerdict, verdictWording } from '../rendering/wording.js';
import { type CheckOptions, type Output, verifyFile } from './check-command.js';
import { EXIT_CODES } from './exit-codes.js';
import { parseLanguage } from './options.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify list`: those of `check`, the selection and the form of the output. */
export interface ListOptions extends CheckOptions {
  readonly person?: string;
  readonly csv?: boolean;
}

/**
 * Verifies a package and prints its consents.
 * @returns the exit code, by the verdict on the package
 * @throws UsageError
 */
export async function runList(path: string, options: ListOptions, output: Output): Promise<number> {
  if (options.csv === true && options.json === true)
    throw new UsageError('--csv and --json are different outputs: give one of them');
  const texts = parseLanguage(options.language);
  const list = new ConsentList(MAX_CONSENTS);
  // The list selects by any disclosed value, so it does not matter whose package it is.
  const { person, ...given } = options;
  const report = await verifyFile(path, given, output, { list });
  const { listing } = list;
  const shown = person === undefined ? listing.consents : consentsOfPerson(listing.consents, person);
  const isDevelopment = report.package.development === true;
  const wording = verdictWording(report.verdict, isDevelopment, texts);
  const verdict = `${loudVerdict(wording, texts)}, ${asOfText(report.as_of, texts)}`;
  if (options.csv !== true && options.json !== true) {
    output.out(`${verdict}\n\n${consentsText(shown, listing, isDevelopment, texts)}`);
    return EXIT_CODES[report.verdict];
  }
  output.out(options.csv === true ? consentsCsv(shown, isDevelopment) : `${asciiJson(shown)}\n`);
  if (report.verdict !== 'valid' || isDevelopment) output.warn(`the package is ${verdict}: see consent-verify check`);
  const rest = restText(listing, texts);
  if (rest !== '') output.warn(rest);
  return EXIT_CODES[report.verdict];
}
