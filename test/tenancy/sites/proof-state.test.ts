import { describe, expect, it } from 'vitest';
import { afterLook, coversSubdomains, isLapsed, type ProofLooks } from '../../../src/tenancy/sites/proof-state.js';

const DAY = 86_400_000;
const at = (day: number): Date => new Date(Date.UTC(2030, 0, 1) + day * DAY);

/** The looks of some days, and the day of each warning. */
function looksOf(days: readonly (readonly [day: number, isFound: boolean])[]) {
  let state: ProofLooks = { lookedAt: at(0), failingSince: null };
  const warnings: [number, string][] = [];
  for (const [day, isFound] of days) {
    const { warning, ...next } = afterLook(state, isFound, at(day));
    state = next;
    if (warning !== null) warnings.push([day, warning]);
  }
  return { state, warnings };
}
const failing = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => [from + index, false] as const);

describe('a proof that is not found', () => {
  it('warns at once and a week before it lapses, which it does after 30 days', () => {
    const late = looksOf(failing(7, 36));
    expect(late.warnings).toEqual([
      [7, 'failing'],
      [30, 'lapses_soon'],
    ]);
    expect(late.state).toEqual({ lookedAt: at(36), failingSince: at(7) });
    expect(isLapsed(late.state)).toBe(false);
    const lapsed = looksOf(failing(7, 37));
    expect(isLapsed(lapsed.state)).toBe(true);
    expect(lapsed.warnings).toHaveLength(2);
    expect(looksOf(failing(7, 60)).warnings).toHaveLength(2);
  });

  it('begins anew once it was found', () => {
    const { state, warnings } = looksOf([...failing(7, 60), [61, true], [68, false]]);
    expect(state).toEqual({ lookedAt: at(68), failingSince: at(68) });
    expect(warnings).toEqual([
      [7, 'failing'],
      [30, 'lapses_soon'],
      [68, 'failing'],
    ]);
  });

  it('does not age while the service does not look, nor when a clock goes back', () => {
    const { state, warnings } = looksOf([...failing(7, 10), [100, false]]);
    expect(state).toEqual({ lookedAt: at(100), failingSince: at(95) });
    expect(warnings).toEqual([[7, 'failing']]);
    expect(looksOf([...failing(7, 10), [3, false]]).state).toEqual({ lookedAt: at(3), failingSince: at(0) });
  });
});

it('only proofs by a page leave subdomains out', () => {
  const kinds = [null, 'dns', 'operator', 'file', 'meta'] as const;
  expect(kinds.filter(coversSubdomains)).toEqual([null, 'dns', 'operator']);
});
