import { htmlPage } from '../report/html.js';
import { asciiJson } from '../report/printable.js';
import { recordPage } from '../show/record-page.js';
import { recordText } from '../show/record-text.js';
import { RecordWatch } from '../show/record-watch.js';
import { type CheckOptions, type Output, verifyFile, writePage } from './check-command.js';
import { EXIT_CODES } from './exit-codes.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify show`: those of `check`. */
export type ShowOptions = CheckOptions;

/**
 * Checks a package and prints one of its records with its proof.
 * @param name an event id, a consent token or a proof hash
 * @returns the exit code, by the record's own verdict
 * @throws UsageError
 */
export async function runShow(path: string, name: string, options: ShowOptions, output: Output): Promise<number> {
  const watch = RecordWatch.of(name.toLowerCase());
  if (watch === null) throw new UsageError(`“${name}” is not an event id, a consent token (ct_…) or a proof hash`);
  await verifyFile(path, options, output, watch);
  const { shown } = watch;
  if (shown === null) throw new UsageError(`${path} contains no record ${name}`);
  if (options.html !== undefined)
    await writePage(options.html, path, htmlPage('One record of consent', recordPage(shown)));
  output.out(options.json === true ? `${asciiJson(shown)}\n` : recordText(shown));
  return EXIT_CODES[shown.verdict];
}
