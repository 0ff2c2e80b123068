/**
 * Chooses a language: the first wanted one that is available, exactly or by its primary subtag
 * (simplified look-up of RFC 4647 §3.4). Otherwise it is the default, or the first in alphabetical
 * order.
 * @param available not empty
 * @param wanted language tags, the preferred one first
 * @param standard the default language
 * @throws RangeError if `available` is empty
 */
export function chooseLanguage(available: readonly string[], wanted: readonly string[], standard: string): string {
  for (const tag of [...wanted, standard]) {
    const match = matchOf(available, tag);
    if (match !== undefined) return match;
  }
  const [first] = [...available].sort();
  if (first === undefined) throw new RangeError('there is no language to choose from');
  return first;
}

function matchOf(available: readonly string[], tag: string): string | undefined {
  const wanted = tag.toLowerCase();
  const exact = available.find((one) => one.toLowerCase() === wanted);
  return exact ?? available.find((one) => primary(one) === primary(wanted));
}

function primary(tag: string): string {
  return tag.toLowerCase().split('-', 1)[0] ?? '';
}

const MAX_TAGS = 20;

/**
 * Parses an Accept-Language header (RFC 9110 §12.5.4). Malformed parts are ignored.
 * @returns tags, the preferred one first
 */
export function acceptedLanguages(header: string | undefined): readonly string[] {
  return (header ?? '')
    .split(',', MAX_TAGS)
    .flatMap((part) => {
      const [, tag, q] =
        /^\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q=(0(?:\.\d{1,3})?|1(?:\.0{1,3})?)\s*)?$/.exec(part) ?? [];
      return tag === undefined ? [] : [{ tag, quality: q === undefined ? 1 : Number(q) }];
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}
