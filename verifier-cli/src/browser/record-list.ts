import { consentsCsv } from '../list/consents-csv.js';
import { consentsTable } from '../list/consents-table.js';
import type { ConsentListing, ListedConsent } from '../list/listed-consent.js';
import { type ConsentSelection, selectConsents } from '../list/select-consents.js';
import { save } from './elements.js';
import { renderDom } from './render-dom.js';

/** Rows that the page shows at first, and adds on request. */
const PAGE_ROWS = 200;
const VERDICTS: readonly (readonly [string, ConsentSelection['verdict']])[] = [
  ['any verdict', null],
  ['valid', 'valid'],
  ['indeterminate', 'indeterminate'],
  ['invalid', 'invalid'],
  ['erased', 'erased'],
];

/**
 * Adds search, filters, a CSV file and a button for each record to the records of a report.
 * @param place the element with the report
 * @param showRecord shows one record by its consent token
 */
export function startRecordList(
  place: HTMLElement,
  { consents }: ConsentListing,
  isDevelopment: boolean,
  showRecord: (token: string) => void,
): void {
  const section = place.querySelector('.record-list');
  const table = section?.querySelector('table');
  if (!section || !table) return;
  section.querySelector('.rest')?.remove();
  const decisions = [...new Set(consents.flatMap(({ decision }) => decision ?? []))].sort();
  const search = input();
  const decision = choice('Decision', [
    ['any decision', null] as const,
    ...decisions.map((one) => [one, one] as const),
  ]);
  const verdict = choice('Verdict', VERDICTS);
  const csv = button('Save as CSV');
  const more = button('Show more records');
  const controls = document.createElement('div');
  controls.className = 'row';
  controls.append(search, decision.select, verdict.select, csv);
  const view = document.createElement('div');
  table.replaceWith(view);
  view.before(controls);
  view.after(more);

  let rows = PAGE_ROWS;
  const selected = (): readonly ListedConsent[] =>
    selectConsents(consents, { text: search.value, decision: decision.value(), verdict: verdict.value() });
  const show = (): void => {
    const found = selected();
    const shown = found.slice(0, rows);
    const made = renderDom(consentsTable(shown, found.length, isDevelopment));
    view.replaceChildren(made);
    more.hidden = shown.length === found.length;
    for (const [index, row] of view.querySelectorAll('tbody tr').entries()) {
      const consent = shown[index];
      if (consent !== undefined) row.lastElementChild?.append(recordButton(consent, showRecord));
    }
  };
  const restart = (): void => {
    rows = PAGE_ROWS;
    show();
  };
  for (const control of [search, decision.select, verdict.select]) control.addEventListener('input', restart);
  more.addEventListener('click', () => {
    rows += PAGE_ROWS;
    show();
  });
  csv.addEventListener('click', () => save('consents.csv', 'text/csv', consentsCsv(selected(), isDevelopment)));
  show();
}

function input(): HTMLInputElement {
  const made = document.createElement('input');
  made.type = 'search';
  made.placeholder = 'Search: person, token, text';
  made.setAttribute('aria-label', 'Search the records');
  return made;
}

function choice<T>(
  label: string,
  options: readonly (readonly [string, T])[],
): { readonly select: HTMLSelectElement; readonly value: () => T | null } {
  const select = document.createElement('select');
  select.setAttribute('aria-label', label);
  for (const [text] of options) select.append(new Option(text));
  return { select, value: () => options[select.selectedIndex]?.[1] ?? null };
}

function button(text: string): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'plain';
  made.textContent = text;
  return made;
}

function recordButton({ consent_token: token }: ListedConsent, showRecord: (token: string) => void): HTMLButtonElement {
  const made = button('Show');
  made.setAttribute('aria-label', `Show record ${token}`);
  made.addEventListener('click', () => showRecord(token));
  return made;
}
