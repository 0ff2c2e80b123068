import { sha256Hex, sha256Stream } from '../../../schemas/crypto/digest.js';
import { fromBase64, toHex } from '../../../schemas/crypto/encoding.js';
import type { Texts } from '../i18n/texts.js';
import type { Markup } from '../rendering/markup.js';
import { asciiJson } from '../rendering/printable.js';
import { quietVerdict, type TrustSource, verdictWording } from '../rendering/wording.js';
import { htmlPage } from '../report/html.js';
import { certificatePage } from '../show/certificate-page.js';
import { CERTIFICATE_STYLE } from '../show/certificate-style.js';
import { recordPage } from '../show/record-page.js';
import { RecordWatch } from '../show/record-watch.js';
import { savedName } from '../show/saved-name.js';
import type { ShownAttachment } from '../show/shown-attachments.js';
import { shownConsent } from '../show/shown-consent.js';
import type { ShownRecord } from '../show/shown-record.js';
import { find, onClick, save } from './elements.js';
import { NOTHING, type PageLanguage, startStatusLine } from './language.js';
import { renderDom } from './render-dom.js';

/** The form that shows one record of the package that was checked. */
export interface RecordForm {
  /** Clears the form, and shows it only if there is a package. */
  reset(isOffered: boolean): void;
  /** Shows one record, and moves the focus to it. @param record its consent token */
  show(record: string): void;
  /** Shows one record without moving the page, because the reader asked for something else. */
  showBeside(record: string): void;
  /** @param listener a function that gets each record that is shown */
  onRecord(listener: (shown: ShownRecord) => void): void;
}

/** The file that was checked, and whose trust was used. */
export interface CheckedSubject {
  readonly file: File;
  readonly trust: TrustSource;
}

/**
 * Makes the form work.
 * @param language language of the page
 * @param subject the subject of the records, or null if nothing was checked
 * @param verify verifies the package again while watching one record, and calls `show` unless other work was started
 *   meanwhile
 */
export function startRecordForm(
  language: PageLanguage,
  subject: () => CheckedSubject | null,
  verify: (watch: RecordWatch, show: () => void) => Promise<void>,
): RecordForm {
  const { texts } = language;
  const form = find('record-form', HTMLFormElement);
  const name = find('record-name', HTMLInputElement);
  const status = startStatusLine('record-status', language);
  const place = find('record', HTMLElement);
  const actions = find('record-actions', HTMLElement);
  const certificateButtons = ['certificate-print', 'certificate-save'].map((id) => find(id, HTMLButtonElement));
  const listeners: ((shown: ShownRecord) => void)[] = [];
  let shown: ShownRecord | null = null;

  const clear = (): void => {
    shown = null;
    place.replaceChildren();
    actions.hidden = true;
    status.say(NOTHING);
  };

  const showRecord = (found: ShownRecord): void => {
    place.replaceChildren(renderDom(recordPage(found, texts(), null, subject()?.trust)));
    const files = found.attachments.flatMap((attachment) => saveButton(attachment, texts()));
    if (files.length > 0) {
      const row = document.createElement('p');
      row.className = 'tool buttons';
      row.append(...files);
      place.append(row);
    }
  };

  const present = (found: ShownRecord | null, isAskedFor: boolean): void => {
    shown = found;
    if (found === null) {
      status.say(({ page }) => page.noRecord);
      return;
    }
    showRecord(found);
    actions.hidden = false;
    const trust = subject()?.trust;
    for (const button of certificateButtons) button.hidden = shownConsent(found) === null;
    status.say((of) =>
      of.page.recordShown(quietVerdict(verdictWording(found.verdict, found.development, of, trust), of)),
    );
    for (const listener of listeners) listener(found);
    if (isAskedFor) place.focus();
  };

  const search = (isAskedFor: boolean): void => {
    clear();
    const watch = RecordWatch.of(name.value.trim().toLowerCase());
    if (watch === null) {
      status.say(({ page }) => page.notAnId);
      return;
    }
    status.say(searching);
    void verify(watch, () => present(watch.shown, isAskedFor)).then(() => {
      if (status.said() === searching) status.say(NOTHING);
    });
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search(true);
  });
  onClick('record-close', () => {
    clear();
    name.focus();
  });
  onClick('record-save-html', () => {
    if (shown === null) return;
    const { fileTitle } = texts().record;
    save(
      'record.html',
      'text/html',
      htmlPage(fileTitle, texts().language, recordPage(shown, texts(), null, subject()?.trust)),
    );
  });
  const withCertificate = async (use: (certificate: Markup) => void): Promise<void> => {
    const of = subject();
    const record = shown;
    if (record === null || of === null) return;
    const about = {
      file: of.file.name,
      fileSha256: await blobSha256(of.file),
      verifier: { kind: 'page', sha256: ownSha256() },
      trust: of.trust,
    } as const;
    const certificate = certificatePage(record, about, texts());
    // The reader may have closed the record meanwhile.
    if (certificate !== null && shown === record) use(certificate);
  };
  onClick('certificate-print', () => void withCertificate(printAlone));
  onClick(
    'certificate-save',
    () =>
      void withCertificate((certificate) => {
        const { paper, language: lang } = texts();
        save('certificate.html', 'text/html', htmlPage(paper.title, lang, certificate, CERTIFICATE_STYLE));
      }),
  );
  onClick('record-save-json', () => {
    if (shown !== null) save('record.json', 'application/json', `${asciiJson(shown)}\n`);
  });

  language.onChange(() => {
    if (shown !== null) showRecord(shown);
  });

  const show = (record: string, isAskedFor: boolean): void => {
    name.value = record;
    search(isAskedFor);
  };
  return {
    show: (record) => show(record, true),
    showBeside: (record) => show(record, false),
    onRecord: (listener) => listeners.push(listener),
    reset: (isOffered) => {
      clear();
      form.hidden = !isOffered;
    },
  };
}

/** Prints only a certificate from the page. */
function printAlone(certificate: Markup): void {
  const place = find('certificate', HTMLElement);
  place.replaceChildren(renderDom(certificate));
  document.body.classList.add('prints-certificate');
  window.addEventListener(
    'afterprint',
    () => {
      document.body.classList.remove('prints-certificate');
      place.replaceChildren();
    },
    { once: true },
  );
  window.print();
}

async function blobSha256(file: Blob): Promise<string> {
  const digest = sha256Stream();
  const reader = file.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) digest.update(part.value);
  return toHex(digest.digest());
}

/**
 * The digest of this script in hex: of a file, the one by which the page permits it. Null if the page has no script.
 */
function ownSha256(): string | null {
  const script = [...document.scripts].at(-1);
  if (script === undefined) return null;
  if (script.src === '') return sha256Hex(script.text);
  const stated = fromBase64(script.integrity.replace('sha256-', ''));
  return stated === null ? null : toHex(stated);
}

function searching({ page }: Texts): string {
  return page.searching;
}

function saveButton(attachment: ShownAttachment, { page }: Texts): HTMLButtonElement[] {
  const bytes = attachment.base64 === null ? null : fromBase64(attachment.base64);
  if (bytes === null) return [];
  const name = savedName(attachment);
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'plain';
  made.textContent = `${page.saveFile}: ${name}`;
  // The file is never offered with the media type that was sent with it, because the browser must not open it as a
  // page.
  made.addEventListener('click', () => save(name, 'application/octet-stream', new Uint8Array(bytes)));
  return [made];
}
