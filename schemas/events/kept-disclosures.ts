const LINE_FEED = 0x0a;

/**
 * Returns the disclosure strings of a record from what its event keeps, which is encrypted: the JSON of
 * each, `[salt, name, value]`, on a line of its own. JSON has no line feed in a string. The string that
 * the record commits to is the base64url of such a line (RFC 9901 §4.2.1), which takes a third more.
 */
export function disclosuresOf(kept: Buffer): readonly string[] {
  const disclosures: string[] = [];
  for (let start = 0; start < kept.length; ) {
    const found = kept.indexOf(LINE_FEED, start);
    const end = found < 0 ? kept.length : found;
    disclosures.push(kept.toString('base64url', start, end));
    start = end + 1;
  }
  return disclosures;
}
