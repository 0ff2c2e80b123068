import fc from 'fast-check';
import { test } from 'vitest';
import type { Keeping } from './model/browser.js';
import type { Fate } from './model/service.js';
import { type Happening, World } from './model/world.js';

/** A sequence takes about 2 milliseconds of processor time. */
const RUNS = Number(process.env.CHOICE_SEQUENCES ?? 25_000);
/** For a machine that is busy with other tests. */
const LIMIT = { timeout: 1_200_000 };
const SEED = Number(process.env.CHOICE_SEED ?? 29);

const HOUR_MS = 3_600_000;
const tab = fc.nat(3);
const fate = fc.constantFrom<Fate>('answered', 'answered', 'lost', 'away', 'busy', 'broken', 'refused');
const keeping = fc.constantFrom<Keeping>('kept', 'kept', 'blocked', 'throws', 'full');

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('open'), host: fc.nat(1), path: fc.nat(2) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('choose'),
      tab,
      categories: fc.constantFrom<Readonly<Record<string, boolean>>>(
        {},
        {},
        { analytics: true, marketing: true },
        { analytics: true },
        { marketing: true },
      ),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('send'), tab, fates: fc.array(fate, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('close', 'look'), tab }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1_000, 2 * HOUR_MS, 30 * HOUR_MS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('jump'),
      ms: fc.constantFrom(-30, -3, 3, 30).map((hours) => hours * HOUR_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('signal', 'share') }) },
);
const trouble: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constantFrom('cookies', 'storage'), keeping }),
  fc.record({ kind: fc.constant('clear') }),
);
const world = fc.record({ law: fc.constantFrom('gdpr', 'ccpa', 'kvkk', null), isShared: fc.boolean() });

function run(options: { law: string | null; isShared: boolean }, happenings: readonly Happening[]): void {
  const one = new World(options);
  one.happen({ kind: 'open', host: 0, path: 0 });
  for (const what of happenings) one.happen(what);
  one.end();
}

test(
  `${RUNS} random sequences of choices, pages, hosts, signals, clocks and network faults keep every promise`,
  LIMIT,
  () => {
    const sequences = fc.array(happening, { minLength: 2, maxLength: 7 });
    fc.assert(fc.property(world, sequences, run), { numRuns: Math.ceil(RUNS * 0.6), seed: SEED });
  },
);

test('… and so do those in which the browser keeps nothing, throws, is full or is cleared', LIMIT, () => {
  const sequences = fc.array(fc.oneof({ weight: 5, arbitrary: happening }, { weight: 1, arbitrary: trouble }), {
    minLength: 2,
    maxLength: 7,
  });
  fc.assert(fc.property(world, sequences, run), { numRuns: Math.ceil(RUNS * 0.4), seed: SEED });
});
