import type { Texts } from '../i18n/texts.js';
import { element, type Markup } from '../report/markup.js';
import { english, list, section } from '../report/page-parts.js';
import type { ContradictionVerdict } from './contradiction.js';

/** Renders the verdict on a contradiction proof as a page. A proved contradiction counts against the ledger. */
export function contradictionPage({ outcome, statement }: ContradictionVerdict, texts: Texts): Markup {
  const { contradiction } = texts.report;
  const style = outcome === 'proved' ? 'invalid' : 'indeterminate';
  return element(
    'article',
    { lang: texts.language },
    element(
      'header',
      {},
      element('h1', {}, contradiction.title),
      element(
        'section',
        { class: `verdict ${style}` },
        element('span', { class: 'sign', 'aria-hidden': 'true' }, outcome === 'proved' ? '✗' : '?'),
        element('p', {}, element('strong', {}, contradiction.outcomes[outcome]), english(`${statement}.`, texts)),
      ),
    ),
    ...(outcome === 'proved'
      ? [section(contradiction.meaning, list([contradiction.responsible, contradiction.notWhich]))]
      : []),
  );
}
