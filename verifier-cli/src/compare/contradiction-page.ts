import type { Texts } from '../i18n/texts.js';
import { element } from '../rendering/markup.js';
import { banner, english, list, section } from '../rendering/page-parts.js';
import type { ReportParts } from '../report/report-page.js';
import type { ContradictionVerdict } from './contradiction.js';

/** The parts of a page with the verdict on a contradiction proof. A proved contradiction counts against the ledger. */
export function contradictionParts({ outcome, statement }: ContradictionVerdict, texts: Texts): ReportParts {
  const { contradiction } = texts.report;
  const look = outcome === 'proved' ? { style: 'invalid', mark: '✗' } : { style: 'indeterminate', mark: '?' };
  const header = element(
    'header',
    {},
    element('h1', {}, contradiction.title),
    banner(look, contradiction.outcomes[outcome], english(`${statement}.`, texts)),
  );
  const meaning = section(contradiction.meaning, list([contradiction.responsible, contradiction.notWhich]));
  return { head: [header], body: outcome === 'proved' ? [meaning] : [] };
}

/** The object that `check-contradiction --json` prints. */
export function contradictionReport({ outcome, statement }: ContradictionVerdict) {
  return { format: 'consent-verify-contradiction', version: 1, outcome, statement };
}
