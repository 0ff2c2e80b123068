import { fromBase64 } from '../../../schemas/crypto/encoding.js';
import type { Texts } from '../i18n/texts.js';
import { asciiJson } from '../rendering/printable.js';
import { quietVerdict, verdictWording } from '../rendering/wording.js';
import { htmlPage } from '../report/html.js';
import { recordPage } from '../show/record-page.js';
import { RecordWatch } from '../show/record-watch.js';
import { savedName } from '../show/saved-name.js';
import type { ShownAttachment } from '../show/shown-attachments.js';
import type { ShownRecord } from '../show/shown-record.js';
import { find, onClick, save } from './elements.js';
import { NOTHING, type PageLanguage, startStatusLine } from './language.js';
import { renderDom } from './render-dom.js';

/** The form that shows one record of the package that was checked. */
export interface RecordForm {
  /** Clears the form, and shows it only if there is a package. */
  reset(isOffered: boolean): void;
  /** Shows one record. @param record its consent token */
  show(record: string): void;
}

/**
 * Makes the form work.
 * @param language of the page
 * @param verify verifies the package again while watching one record, and calls `show` unless other work was started
 *   meanwhile
 */
export function startRecordForm(
  language: PageLanguage,
  verify: (watch: RecordWatch, show: () => void) => Promise<void>,
): RecordForm {
  const { texts } = language;
  const form = find('record-form', HTMLFormElement);
  const name = find('record-name', HTMLInputElement);
  const status = startStatusLine('record-status', language);
  const place = find('record', HTMLElement);
  const actions = find('record-actions', HTMLElement);
  let shown: ShownRecord | null = null;

  const clear = (): void => {
    shown = null;
    place.replaceChildren();
    actions.hidden = true;
    status.say(NOTHING);
  };

  const showRecord = (found: ShownRecord): void => {
    place.replaceChildren(renderDom(recordPage(found, texts())));
    const files = found.attachments.flatMap((attachment) => saveButton(attachment, texts()));
    if (files.length > 0) {
      const row = document.createElement('p');
      row.className = 'tool buttons';
      row.append(...files);
      place.append(row);
    }
  };

  const present = (found: ShownRecord | null): void => {
    shown = found;
    if (found === null) {
      status.say(({ page }) => page.noRecord);
      return;
    }
    showRecord(found);
    actions.hidden = false;
    status.say((of) => of.page.recordShown(quietVerdict(verdictWording(found.verdict, found.development, of), of)));
    place.focus();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    clear();
    const watch = RecordWatch.of(name.value.trim().toLowerCase());
    if (watch === null) {
      status.say(({ page }) => page.notAnId);
      return;
    }
    status.say(searching);
    void verify(watch, () => present(watch.shown)).then(() => {
      if (status.said() === searching) status.say(NOTHING);
    });
  });
  onClick('record-close', () => {
    clear();
    name.focus();
  });
  onClick('record-save-html', () => {
    if (shown === null) return;
    const { fileTitle } = texts().record;
    save('record.html', 'text/html', htmlPage(fileTitle, texts().language, recordPage(shown, texts())));
  });
  onClick('record-save-json', () => {
    if (shown !== null) save('record.json', 'application/json', `${asciiJson(shown)}\n`);
  });

  language.onChange(() => {
    if (shown !== null) showRecord(shown);
  });

  return {
    show: (record) => {
      name.value = record;
      form.requestSubmit();
    },
    reset: (isOffered) => {
      clear();
      form.hidden = !isOffered;
    },
  };
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
  // Never with the media type that was sent with it, because the browser must not open it as a page.
  made.addEventListener('click', () => save(name, 'application/octet-stream', new Uint8Array(bytes)));
  return [made];
}
