import { element, type Markup } from '../report/markup.js';
import { foreign, list, section } from '../report/page-parts.js';
import type { ContradictionVerdict } from './contradiction.js';

/** A verdict on a ledger's contradiction in words. A proved one is bad news of the ledger. */
export const CONTRADICTION_TITLES: Readonly<Record<ContradictionVerdict['outcome'], string>> = {
  proved: 'Proved: the ledger contradicts itself',
  'not-proved': 'Not proved',
  indeterminate: 'Undecided',
};

/** What a proof of a contradiction proves, as a page for people. */
export function contradictionPage({ outcome, statement }: ContradictionVerdict): Markup {
  const style = outcome === 'proved' ? 'invalid' : 'indeterminate';
  return element(
    'article',
    { lang: 'en' },
    element(
      'header',
      {},
      element('h1', {}, 'Two histories of one ledger'),
      element(
        'section',
        { class: `verdict ${style}` },
        element('span', { class: 'sign', 'aria-hidden': 'true' }, outcome === 'proved' ? '✗' : '?'),
        element('p', {}, element('strong', {}, CONTRADICTION_TITLES[outcome]), foreign(`${statement}.`)),
      ),
    ),
    ...(outcome === 'proved' ? [meaning()] : []),
  );
}

function meaning(): Markup {
  return section(
    'What this means',
    list([
      'Both sides are signed by the ledger’s key. An honest ledger never signs both: the holder of the key is responsible.',
      'The proof does not show which side is right, and says nothing about the records of a package. Check the package itself for those.',
    ]),
  );
}
