import { matchLanguage } from './match-language.js';

/**
 * Chooses a language: the first wanted one that `matchLanguage` finds, else the default, else the
 * first in alphabetical order.
 * @param available not empty
 * @param wanted language tags, the preferred one first
 * @param standard the default language
 * @throws RangeError if `available` is empty
 */
export function chooseLanguage(available: readonly string[], wanted: readonly string[], standard: string): string {
  const match = matchLanguage(available, [...wanted, standard]) ?? [...available].sort()[0];
  if (match === undefined) throw new RangeError('there is no language to choose from');
  return match;
}
