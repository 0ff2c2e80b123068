import { cutText, type TimestampReport } from './report.js';
import { type Strength, weakest } from './strength.js';
import type { Path } from './x509/path.js';

/**
 * The time until which a token is sound without a newer one over it.
 *
 * @param path its chain, to the anchor
 * @param strengths the algorithms and keys that its signatures and its imprint depend on
 * @returns undefined without a chain
 */
export function soundUntil(path: Path, strengths: readonly Strength[]): TimestampReport['soundUntil'] {
  const ends = path.map(({ subject, notAfter }) => ({
    date: notAfter,
    reason: cutText(`the certificate of ${subject.text} expires`),
  }));
  const worst = weakest(strengths);
  if (path.length > 0 && worst?.soundUntil)
    ends.push({ date: worst.soundUntil, reason: `${worst.name} is not considered sound after that date` });
  return ends.sort((a, b) => a.date.getTime() - b.date.getTime())[0];
}
