import { hyphenated, localeOf } from './language-tag.js';

/** Norwegian is Bokmål unless it says Nynorsk. */
const SAME: Readonly<Record<string, string>> = { nb: 'no' };
/** Macrolanguages (ISO 639-3) of languages that the canonical form of a tag keeps apart. */
const MACROLANGUAGES: Readonly<Record<string, string>> = { nn: 'no', yue: 'zh' };

/**
 * Finds the available language that suits best (look-up of RFC 4647 §3.4). The first wanted tag that matches decides.
 * Beyond that look-up, languages also match if they have the same script and differ only in their region, or belong to
 * one macrolanguage. The most likely script of a tag counts (`zh-TW` is written in `Hant`).
 * @param wanted tags as `localeOf` reads them, the preferred one first; other texts are skipped
 * @returns one of `available`, or undefined if none matches
 */
export function matchLanguage(available: readonly string[], wanted: readonly string[]): string | undefined {
  for (const text of wanted) {
    const tag = hyphenated(text).toLowerCase();
    const match = available.find((one) => one.toLowerCase() === tag) ?? nearest(available, localeOf(text));
    if (match !== undefined) return match;
  }
  return undefined;
}

function nearest(available: readonly string[], wanted: Intl.Locale | undefined): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const tag of wanted === undefined ? [] : available) {
    const locale = localeOf(tag);
    const closeness = wanted === undefined || locale === undefined ? 0 : closenessOf(wanted, locale);
    if (closeness > most) [best, most] = [tag, closeness];
  }
  return best;
}

/** @returns 0 for languages that do not match, and a larger number for a better match */
function closenessOf(wanted: Intl.Locale, available: Intl.Locale): number {
  const [a, b] = [wanted.maximize(), available.maximize()];
  const [ours, theirs] = [SAME[a.language] ?? a.language, SAME[b.language] ?? b.language];
  const isShortened = startsWith(wanted, available);
  if (a.script !== b.script || (MACROLANGUAGES[ours] ?? ours) !== (MACROLANGUAGES[theirs] ?? theirs))
    // A tag without a script matches every script.
    return isShortened || startsWith(available, wanted) ? 1 : 0;
  return 2 + (ours === theirs ? 8 : 0) + (a.region === b.region ? 4 : 0) + (isShortened ? 2 : 0);
}

/** Whether a tag consists of another tag and further subtags. */
function startsWith({ baseName: long }: Intl.Locale, { baseName: short }: Intl.Locale): boolean {
  return `${long}-`.startsWith(`${short}-`);
}
