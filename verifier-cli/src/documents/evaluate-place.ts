import type { Outcome } from '../findings/check-table.js';
import { isAfter, type LedgerPlace } from './place.js';

/** When, in the order of the ledger, what a reference names came into force and ceased to be. */
export interface Term {
  readonly published: LedgerPlace;
  /** Null where no activation is enclosed; `always` for what needs none. */
  readonly activated: LedgerPlace | 'always' | null;
  /** Null where no retirement is enclosed. */
  readonly retired: LedgerPlace | null;
}

/** What a check of one record found. */
export interface PlaceEvaluation {
  readonly outcome: Outcome;
  readonly message: string;
}

/**
 * Holds a consent's place in the ledger against the term of the text, or of the configuration, that
 * it names. Places cannot be chosen afterwards, as times can. Within a batch the order of streams is
 * not known: what came into force in the consent's own batch may have been in force.
 * @param isHistoryWhole whether every notice of the site is enclosed and understood: only then an
 *   activation that is not there never was
 */
export function evaluatePlace(
  { published, activated, retired }: Term,
  consent: LedgerPlace,
  isHistoryWhole: boolean,
): PlaceEvaluation | null {
  if (isAfter(published, consent)) return fail('it was published after the consent, by their order in the ledger');
  if (retired !== null && isAfter(consent, retired)) return fail('it was retired before the consent');
  if (activated === 'always' || (activated !== null && !isAfter(activated, consent))) return null;
  if (activated !== null || isHistoryWhole) return fail('it was not activated before the consent');
  return {
    outcome: 'indeterminate',
    message: 'the package includes neither its activation nor all notices of the site',
  };
}

function fail(message: string): PlaceEvaluation {
  return { outcome: 'fail', message };
}
