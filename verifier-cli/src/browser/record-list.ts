import { actOf } from '../../../schemas/law/acts.js';
import type { Texts } from '../i18n/texts.js';
import { consentsCsv } from '../list/consents-csv.js';
import { consentsTable } from '../list/consents-table.js';
import type { ConsentListing, ListedConsent } from '../list/listed-consent.js';
import { type ConsentSelection, selectConsents } from '../list/select-consents.js';
import { decisionWord } from '../rendering/wording.js';
import { save } from './elements.js';
import { renderDom } from './render-dom.js';

/** Number of rows that the page shows at first, and adds on request. */
const PAGE_ROWS = 200;

interface RecordListOptions {
  readonly texts: Texts;
  /** Shows one record by its consent token. */
  readonly showRecord: (token: string) => void;
}

/**
 * Adds search, filters, a CSV file and a button for each record to the records of a report.
 * @param place the element with the report
 */
export function startRecordList(
  place: HTMLElement,
  { consents }: ConsentListing,
  isDevelopment: boolean,
  { texts, showRecord }: RecordListOptions,
): void {
  const { page, words } = texts;
  const section = place.querySelector('.record-list');
  const table = section?.querySelector('table');
  if (!section || !table) return;
  section.querySelector('.rest')?.remove();
  const decisions = [...new Set(consents.flatMap((one) => actOf(one) ?? []))].sort();
  const search = input(texts);
  const decision = choice(page.decision, [
    [page.anyDecision, null] as const,
    ...decisions.map((one) => [decisionWord(one, texts), one] as const),
  ]);
  const verdicts: readonly (readonly [string, ConsentSelection['verdict']])[] = [
    [page.anyVerdict, null],
    [words.recordVerdicts.valid, 'valid'],
    [words.recordVerdicts.indeterminate, 'indeterminate'],
    [words.recordVerdicts.invalid, 'invalid'],
    [page.erased, 'erased'],
  ];
  const verdict = choice(page.verdict, verdicts);
  const csv = button(page.saveCsv);
  const more = button(page.showMore);
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
    const made = renderDom(consentsTable(shown, found.length, isDevelopment, texts));
    view.replaceChildren(made);
    more.hidden = shown.length === found.length;
    for (const [index, row] of view.querySelectorAll('tbody tr').entries()) {
      const consent = shown[index];
      if (consent !== undefined) row.lastElementChild?.append(recordButton(consent, { texts, showRecord }));
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

function input({ page }: Texts): HTMLInputElement {
  const made = document.createElement('input');
  made.type = 'search';
  made.placeholder = page.search;
  made.setAttribute('aria-label', page.searchLabel);
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

function recordButton(
  { consent_token: token }: ListedConsent,
  { texts: { page }, showRecord }: RecordListOptions,
): HTMLButtonElement {
  const made = button(page.standing.show);
  made.setAttribute('aria-label', page.showOne(token));
  made.addEventListener('click', () => showRecord(token));
  return made;
}
