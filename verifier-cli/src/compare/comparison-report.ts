import { englishText } from '../findings/finding.js';
import type { ComparedSources } from './compare-sources.js';

/** The object that `compare --json` prints. */
export function comparisonReport({ comparison, sides }: ComparedSources) {
  const { outcome, statement, newer, entriesCompared, contradiction } = comparison;
  return {
    format: 'consent-verify-comparison',
    version: 1,
    outcome,
    statement: englishText(statement),
    newer,
    ...sides,
    entries_compared: entriesCompared,
    contradiction,
  };
}
