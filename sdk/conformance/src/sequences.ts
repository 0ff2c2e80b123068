import type { OpenConsent } from './adapter.js';
import type { Fate } from './service.js';
import type { Site } from './site.js';

type Answers = Readonly<Record<string, boolean>>;

/** Something that happens on a device. */
export type Step =
  | { readonly kind: 'choose'; readonly categories: Answers; readonly services: Answers }
  | { readonly kind: 'accept' | 'refuse' | 'opt out' | 'signal' | 'restart' | 'resume' }
  | { readonly kind: 'network'; readonly fate: Fate }
  | { readonly kind: 'pass'; readonly ms: number };

export interface Sequence {
  readonly site: Site;
  readonly steps: readonly Step[];
}

const HOUR_MS = 3_600_000;
const MOST_STEPS = 9;

/** A random sequence. @param seed the same number gives the same sequence */
export function sequenceOf(seed: number): Sequence {
  const random = randomOf(seed);
  const one = <T>(...values: readonly [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0];
  const answers = (always: readonly string[], perhaps: readonly string[]): Answers =>
    Object.fromEntries([...always, ...perhaps.filter(() => one(true, false))].map((key) => [key, one(true, false)]));
  const kinds: readonly (() => Step)[] = [
    ...Array<() => Step>(4).fill(() => ({
      kind: 'choose',
      categories: answers(['analytics'], ['marketing']),
      services: answers([], ['maps', 'films']),
    })),
    ...Array<() => Step>(6).fill(() => ({
      kind: one('accept', 'refuse', 'opt out', 'signal', 'restart', 'restart', 'resume'),
    })),
    ...Array<() => Step>(3).fill(() => ({
      kind: 'network',
      fate: one('answered', 'answered', 'lost', 'away', 'busy', 'broken', 'refused'),
    })),
    ...Array<() => Step>(3).fill(() => ({ kind: 'pass', ms: one(500, 70_000, 2 * HOUR_MS) })),
  ];
  const length = 2 + Math.floor(random() * (MOST_STEPS - 1));
  const hasServices = one(true, false);
  return {
    site: {
      law: one('gdpr', 'ccpa', null),
      rules: one<Readonly<Record<string, string>>>(
        {},
        { analytics: 'exempt' },
        { analytics: 'opt_out', marketing: 'opt_out' },
      ),
      services: hasServices ? { marketing: ['maps', 'films'] } : {},
      hasSwitches: hasServices,
    },
    steps: Array.from({ length }, (): Step => {
      const make = kinds[Math.floor(random() * kinds.length)];
      return make === undefined ? { kind: 'resume' } : make();
    }),
  };
}

/** Lets a visitor act. An SDK may refuse an action before it knows the configuration: it then must not count. */
export function actOf(consent: OpenConsent, step: Step): void {
  try {
    const answer =
      step.kind === 'choose'
        ? consent.choose(step.categories, step.services)
        : step.kind === 'accept'
          ? consent.acceptAll()
          : step.kind === 'refuse'
            ? consent.rejectAll()
            : step.kind === 'opt out'
              ? consent.optOutOfSale(true)
              : consent.resume();
    if (answer instanceof Promise) answer.catch(() => undefined);
  } catch {
    // What follows shows whether it counts nevertheless.
  }
}

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
