import { cutText, type SoundUntil } from './report.js';
import { type Strength, weakest } from './strength.js';
import type { Path } from './x509/path.js';

/**
 * Returns the time until which a token remains valid without a newer token over it.
 *
 * @param path the token's chain, up to the anchor
 * @param strengths the algorithms and keys that its signatures and its imprint depend on
 * @returns undefined if there is no chain
 */
export function soundUntil(path: Path, strengths: readonly Strength[]): SoundUntil | undefined {
  const ends: SoundUntil[] = path.map(({ subject, notAfter }) => ({
    date: notAfter,
    reason: cutText(`the certificate of ${subject.text} expires`),
    cause: { kind: 'certificate', name: cutText(subject.text) },
  }));
  const worst = weakest(strengths);
  if (path.length > 0 && worst?.soundUntil)
    ends.push({
      date: worst.soundUntil,
      reason: `${worst.name} is not considered sound after that date`,
      cause: { kind: 'algorithm', name: worst.name },
    });
  return ends.sort((a, b) => a.date.getTime() - b.date.getTime())[0];
}
