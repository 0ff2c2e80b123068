import { stated } from '../findings/finding.js';
import type { Texts } from '../i18n/texts.js';
import { type Element, element, type Markup } from '../rendering/markup.js';
import { banner, finding, foreign } from '../rendering/page-parts.js';
import { momentText } from '../rendering/times-text.js';
import type { Comparison } from './compare.js';
import type { ComparedSide, ComparedSources } from './compare-sources.js';

/** A comparison with the names of both files. */
export interface NamedComparison extends ComparedSources {
  readonly files: Readonly<Record<'a' | 'b', string>>;
}

const LOOKS: Readonly<Record<Comparison['outcome'], { readonly mark: string; readonly style: string }>> = {
  same: { mark: '✓', style: 'valid' },
  extends: { mark: '✓', style: 'valid' },
  contradiction: { mark: '✗', style: 'invalid' },
  indeterminate: { mark: '?', style: 'indeterminate' },
};

/** The outcome of a comparison, with what each file shows of the ledger. */
export function comparisonBanner({ comparison, sides, files }: NamedComparison, texts: Texts): Markup {
  const { comparison: words } = texts.report;
  const { outcome, statement, entriesCompared } = comparison;
  return banner(
    LOOKS[outcome],
    words.outcomes[outcome],
    element('span', { class: 'statement' }, finding(stated(statement), texts), '.'),
    sideLine(files.a, sides.a, texts),
    sideLine(files.b, sides.b, texts),
    ...(entriesCompared === 0 ? [] : [element('span', {}, words.entries(entriesCompared))]),
    element('span', {}, words.notRecords),
  );
}

/** Returns only the comparison, for a first file that has no records to check. */
export function comparisonHeader(compared: NamedComparison, texts: Texts): Element {
  const title = element('h1', {}, texts.report.comparison.title);
  return element('header', {}, title, comparisonBanner(compared, texts));
}

function sideLine(file: string, { kind, size, stamped_at: time }: ComparedSide, texts: Texts): Markup {
  const { comparison: words } = texts.report;
  const line = words.side(file, words.kinds[kind], size);
  return element('span', { class: 'side' }, foreign(`${line}${time === null ? '' : words.stamped(momentText(time))}`));
}
