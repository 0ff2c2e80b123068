import { htmlPage } from '../report/html.js';
import { asciiJson } from '../report/printable.js';
import { verdictWording } from '../report/wording.js';
import { recordPage } from '../show/record-page.js';
import { RecordWatch } from '../show/record-watch.js';
import type { ShownRecord } from '../show/shown-record.js';
import { find, save } from './elements.js';
import { renderDom } from './render-dom.js';

const LOOKING = 'Searching …';

/** The form that shows one record of the package that was checked. */
export interface RecordForm {
  /** Empties it, and offers it only where there is a package. */
  reset(isOffered: boolean): void;
  /** Shows one record. @param record its consent token */
  show(record: string): void;
}

/**
 * Makes the form work.
 * @param verify verifies the package once more with an eye on one record, and calls `show` unless
 *   something else was begun meanwhile
 */
export function startRecordForm(verify: (watch: RecordWatch, show: () => void) => Promise<void>): RecordForm {
  const form = find('record-form', HTMLFormElement);
  const name = find('record-name', HTMLInputElement);
  const status = find('record-status', HTMLElement);
  const place = find('record', HTMLElement);
  const actions = find('record-actions', HTMLElement);
  let shown: ShownRecord | null = null;

  const clear = (): void => {
    shown = null;
    place.replaceChildren();
    actions.hidden = true;
    status.textContent = '';
  };

  const present = (found: ShownRecord | null): void => {
    shown = found;
    if (found === null) {
      status.textContent = 'The package contains no such record.';
      return;
    }
    place.replaceChildren(renderDom(recordPage(found)));
    actions.hidden = false;
    const { word } = verdictWording(found.verdict, found.development);
    status.textContent = `Record shown below: ${word.toLowerCase()}.`;
    place.focus();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    clear();
    const watch = RecordWatch.of(name.value.trim().toLowerCase());
    if (watch === null) {
      status.textContent = 'Enter an event id, a consent token (ct_…) or a proof hash.';
      return;
    }
    status.textContent = LOOKING;
    void verify(watch, () => present(watch.shown)).then(() => {
      if (status.textContent === LOOKING) status.textContent = '';
    });
  });
  find('record-close', HTMLButtonElement).addEventListener('click', () => {
    clear();
    name.focus();
  });
  find('record-save-html', HTMLButtonElement).addEventListener('click', () => {
    if (shown !== null) save('record.html', 'text/html', htmlPage('One record of consent', recordPage(shown)));
  });
  find('record-save-json', HTMLButtonElement).addEventListener('click', () => {
    if (shown !== null) save('record.json', 'application/json', `${asciiJson(shown)}\n`);
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
