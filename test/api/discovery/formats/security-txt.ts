/** RFC 3986 §3: a URI, that is, with a scheme. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;
/** RFC 3339 §5.6 */
const DATE_TIME =
  /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
/** RFC 5646 §2.1, well enough for tags without extensions. */
const LANGUAGES = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*(\s*,\s*[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)*$/;
const COMMENT = /^#[\t\x20-\x7e\x80-\u{fffff}]*$/u;
/** RFC 5322 §3.6.8 */
const FIELD = /^([\x21-\x39\x3b-\x7e]+): (.*)$/;
const URI_FIELDS = ['acknowledgments', 'canonical', 'contact', 'encryption', 'hiring', 'policy'];

/**
 * The problems of an unsigned security.txt by the grammar of RFC 9116 §4 and the rules of §2.5;
 * none if it is right.
 */
export function problemsOfSecurityTxt(text: string, now: Date): string[] {
  const problems: string[] = [];
  if (!text.endsWith('\n')) problems.push('the last line does not end');
  const counts = new Map<string, number>();
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const content = line.replace(/[\t ]*\r?$/, '');
    if (content === '' || COMMENT.test(content)) continue;
    const [, name, value = ''] = FIELD.exec(content) ?? [];
    if (name === undefined) {
      problems.push(`not a field: ${content}`);
      continue;
    }
    const field = name.toLowerCase();
    counts.set(field, (counts.get(field) ?? 0) + 1);
    problems.push(...problemsOfField(field, value, now));
  }
  if ((counts.get('contact') ?? 0) === 0) problems.push('no Contact');
  if (counts.get('expires') !== 1) problems.push('not exactly one Expires');
  if ((counts.get('preferred-languages') ?? 0) > 1) problems.push('more than one Preferred-Languages');
  return problems;
}

function problemsOfField(field: string, value: string, now: Date): string[] {
  if (field === 'expires') {
    if (!DATE_TIME.test(value)) return ['Expires is not a date-time'];
    const days = (Date.parse(value) - now.getTime()) / 86_400_000;
    return days > 0 && days < 365 ? [] : ['Expires is past, or more than a year ahead'];
  }
  if (field === 'preferred-languages') return LANGUAGES.test(value) ? [] : ['Preferred-Languages has no language tags'];
  if (!URI_FIELDS.includes(field)) return [];
  if (!URI.test(value)) return [`${field} is not a URI`];
  return /^http:/i.test(value) ? [`${field} is a web URI without https`] : [];
}
