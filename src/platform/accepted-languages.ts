const MAX_TAGS = 20;

/**
 * Parses an Accept-Language header (RFC 9110 §12.5.4). Parts with a malformed weight are
 * ignored.
 * @returns texts that `matchLanguage` reads or skips, the preferred one first
 */
export function acceptedLanguages(header: string | undefined): readonly string[] {
  return (header ?? '')
    .split(',', MAX_TAGS)
    .flatMap((part) => {
      const [, tag, q] = /^\s*([^\s;]{1,64})\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i.exec(part) ?? [];
      return tag === undefined ? [] : [{ tag, quality: q === undefined ? 1 : Number(q) }];
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}
