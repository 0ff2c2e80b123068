// Runs random sequences against the model: `node <bundle> <count> <seed>`. It is a program of its
// own, bundled, because vitest runs the same code in three times the processor time.
import fc from 'fast-check';
import type { Keeping } from '../../../../sdk/conformance/src/browser.js';
import type { Fate } from '../../../../sdk/conformance/src/service.js';
import { type Happening, World, type WorldOptions } from './world.js';

const HOUR_MS = 3_600_000;
const tab = fc.nat(3);
const fate = fc.constantFrom<Fate>('answered', 'answered', 'lost', 'away', 'busy', 'broken', 'refused');
const categories = fc.constantFrom<Readonly<Record<string, boolean>>>(
  {},
  {},
  { analytics: true, marketing: true },
  { analytics: true },
  { marketing: true },
);
const services = fc.constantFrom<Readonly<Record<string, boolean>>>(
  {},
  {},
  { maps: true },
  { maps: true, films: true },
  { films: false },
);
/** The last: the first consent of a stream keeps failing by itself, and the next one is answered. */
const fates = fc.oneof(
  { weight: 7, arbitrary: fc.array(fate, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant<readonly Fate[]>(['broken', 'broken', 'broken', 'answered']) },
);
const keeping = fc.constantFrom<Keeping>('kept', 'kept', 'blocked', 'throws', 'full');

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('open'), host: fc.nat(1), path: fc.nat(2) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('choose'), tab, categories, services }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('send'), tab, fates }),
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
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('publish'),
      recipients: fc.constantFrom<readonly string[]>([], ['Ads'], ['Ads', 'Maps']),
      services: fc.constantFrom<readonly string[]>([], ['maps'], ['maps', 'films']),
    }),
  },
);
const trouble: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constantFrom('cookies', 'storage'), keeping }),
  fc.record({ kind: fc.constant('clear') }),
);
const world = fc.record({
  law: fc.constantFrom('gdpr', 'ccpa', 'kvkk', null),
  isShared: fc.boolean(),
  services: fc.constantFrom<readonly string[]>([], ['maps'], ['maps', 'films']),
});

function run(options: WorldOptions, happenings: readonly Happening[]): void {
  const one = new World(options);
  one.happen({ kind: 'open', host: 0, path: 0 });
  for (const what of happenings) one.happen(what);
  one.end();
}

const orderly = fc.array(happening, { minLength: 2, maxLength: 7 });
/** The browser also keeps nothing, throws, is full or is cleared. */
const troubled = fc.array(fc.oneof({ weight: 5, arbitrary: happening }, { weight: 1, arbitrary: trouble }), {
  minLength: 2,
  maxLength: 7,
});

const [count, seed] = process.argv.slice(2).map(Number);
for (const [sequences, share] of [
  [orderly, 0.6],
  [troubled, 0.4],
] as const)
  fc.assert(fc.property(world, sequences, run), { numRuns: Math.ceil((count ?? 0) * share), seed: seed ?? 0 });
const { user, system } = process.cpuUsage();
console.log(`${count} sequences of seed ${seed} in ${Math.round((user + system) / 1e6)} s of processor time`);
