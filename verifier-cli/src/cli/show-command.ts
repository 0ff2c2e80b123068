import { open } from 'node:fs/promises';
import { sha256Hex, sha256Stream } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { VendorList } from '../../../schemas/iab/vendor-list.js';
import { answersQuestion } from '../../../schemas/law/acts.js';
import type { Texts } from '../i18n/texts.js';
import { ConsentList, MAX_CONSENTS } from '../list/consent-list.js';
import { asciiJson } from '../rendering/printable.js';
import { htmlPage } from '../report/html.js';
import { certificatePage } from '../show/certificate-page.js';
import { CERTIFICATE_STYLE } from '../show/certificate-style.js';
import { recordPage } from '../show/record-page.js';
import { recordText } from '../show/record-text.js';
import { RecordWatch } from '../show/record-watch.js';
import { shownConsent } from '../show/shown-consent.js';
import type { ShownRecord } from '../show/shown-record.js';
import { type ConsentDocument, consentDocument } from '../ts27560/consent-record.js';
import { type CheckOptions, type Output, verifyFile, writePage } from './check-command.js';
import { EXIT_CODES } from './exit-codes.js';
import { readSmallFile } from './input-files.js';
import { parseLanguage } from './options.js';
import { saveAttachments } from './save-attachments.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify show`: those of `check`, and the form of the output. */
export interface ShowOptions extends CheckOptions {
  readonly format?: string;
  /** File for the certificate of one page. */
  readonly certificate?: string;
  /** Folder for the files of the person. */
  readonly attachments?: string;
  /** File of the vendor list that the configuration names. */
  readonly vendorList?: string;
}

/** The only form besides text and JSON: a consent record of ISO/IEC TS 27560:2023 in JSON-LD. */
const TS27560 = 'ts27560';

/**
 * Checks a package and prints one of its records with its proof.
 * @param name an event id, a consent token or a proof hash
 * @param program file of this program, whose digest a certificate states, or null if it is not one file
 * @returns the exit code, by the record's own verdict
 * @throws UsageError
 */
export async function runShow(
  path: string,
  name: string,
  options: ShowOptions,
  output: Output,
  program: URL | null = null,
): Promise<number> {
  const watch = RecordWatch.of(name.toLowerCase());
  if (watch === null) throw new UsageError(`“${name}” is not an event id, a consent token (ct_…) or a proof hash`);
  const { format } = options;
  if (format !== undefined && format !== TS27560)
    throw new UsageError(`“${format}” is not a format: write --format ${TS27560}`);
  if (format !== undefined && options.json === true)
    throw new UsageError(`--format ${TS27560} and --json are different outputs: give one of them`);
  const texts = parseLanguage(options.language);
  await verifyFile(path, options, output, { watch, list: new ConsentList(MAX_CONSENTS) });
  const { shown } = watch;
  if (shown === null) throw new UsageError(`${path} contains no record ${name}`);
  const list = options.vendorList === undefined ? null : await readVendorList(options.vendorList, shown);
  if (options.html !== undefined)
    await writePage(
      options.html,
      path,
      htmlPage(texts.record.fileTitle, texts.language, recordPage(shown, texts, list)),
    );
  if (options.certificate !== undefined)
    await writeCertificate(options.certificate, path, { shown, texts, list }, program);
  if (options.attachments !== undefined) await saveAttachments(options.attachments, shown);
  if (format !== undefined) output.out(`${asciiJson(documentOf(shown))}\n`);
  else output.out(options.json === true ? `${asciiJson(shown)}\n` : recordText(shown, texts, list));
  return EXIT_CODES[shown.verdict];
}

/** @throws UsageError if the record is not a consent, or the file cannot be written */
async function writeCertificate(
  to: string,
  packageFile: string,
  { shown, texts, list }: { readonly shown: ShownRecord; readonly texts: Texts; readonly list: VendorList | null },
  program: URL | null,
): Promise<void> {
  const about = {
    file: packageFile.split(/[\\/]/).at(-1) ?? packageFile,
    fileSha256: await fileSha256(packageFile),
    verifier: { kind: 'command', sha256: program === null ? null : await fileSha256(program) },
    trust: 'reader',
  } as const;
  const page = certificatePage(shown, about, texts, list);
  if (page === null)
    throw new UsageError(
      `${shown.event_id} is not a consent that this verifier can read: there is no certificate of it`,
    );
  await writePage(
    to,
    packageFile,
    htmlPage(texts.paper.title, texts.language, page, CERTIFICATE_STYLE),
    '--certificate',
  );
}

async function fileSha256(file: string | URL): Promise<string> {
  const digest = sha256Stream();
  const opened = await open(file);
  // It closes the file at its end.
  for await (const chunk of opened.createReadStream()) digest.update(chunk);
  return toHex(digest.digest());
}

/** @throws UsageError if the file is not the vendor list whose SHA-256 the sealed configuration states */
async function readVendorList(path: string, { configuration }: ShownRecord): Promise<VendorList> {
  const sealed = configuration?.iab?.tcf?.vendor_list.sha256;
  if (sealed === undefined)
    throw new UsageError('the record names no configuration with a vendor list: leave out --vendor-list');
  const bytes = await readSmallFile(path);
  if (sha256Hex(bytes) !== sealed)
    throw new UsageError(`${path} is not the vendor list of the configuration, whose SHA-256 is ${sealed}`);
  const list = VendorList.safeParse(parsedJson(bytes));
  if (!list.success) throw new UsageError(`${path} is not a vendor list that this verifier can read`);
  return list.data;
}

function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** @throws UsageError if the evidence does not support a consent record */
function documentOf(shown: ShownRecord): ConsentDocument {
  const { verdict, package_verdict: whole, configuration } = shown;
  if (verdict === 'invalid' || whole === 'invalid')
    throw new UsageError(
      'the evidence is INVALID, so no consent record is made of it: use consent-verify show without --format',
      EXIT_CODES.invalid,
    );
  const record = shownConsent(shown);
  if (record === null)
    throw new UsageError(`${shown.event_id} is not a consent that this verifier can read: name a consent`);
  if (!answersQuestion(record.consent_type))
    throw new UsageError(
      `${shown.event_id} is an opt-out or an objection, and ISO/IEC TS 27560 describes consents: use consent-verify show without --format`,
    );
  if (configuration === null)
    throw new UsageError(
      'the configuration of the site cannot be read, so the mandatory fields of a consent record are not known',
      EXIT_CODES.indeterminate,
    );
  return consentDocument({ shown, record, configuration });
}
