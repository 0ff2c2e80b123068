import { ENGLISH_UNITS, fillFinding, type InputPlaces, type Stated } from '../../findings/finding.js';
import { FINDING_TEXTS } from '../../findings/finding-texts.js';
import { page } from './page.js';

const inField = (label: string): string => `in the field “${label}” of the verifier page`;
const PLACES: InputPlaces = {
  'ledger-key': inField(page.standing.key),
  'tsa-ca': inField(page.standing.roots),
  consistency: inField(page.standing.consistency),
};

/** The text of a finding, in the words of the command or of the page. */
export const finding = ({ message, code, values = {} }: Stated, reader: 'command' | 'page' = 'command'): string =>
  code === undefined || reader === 'command'
    ? message
    : fillFinding(FINDING_TEXTS[code], values, { texts: FINDING_TEXTS, units: ENGLISH_UNITS, places: PLACES });
