import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { Life } from './life.js';
import type { Rule } from './rules-table.js';

type Step =
  | { readonly act: 'accept' | 'refuse' | 'object' | 'opt_out' | 'take_back' | 'publish' }
  | { readonly act: 'move'; readonly rule: Rule }
  | { readonly act: 'signal'; readonly isOn: boolean }
  | { readonly act: 'pass'; readonly days: number };

const ACTS = ['accept', 'refuse', 'object', 'opt_out', 'take_back', 'publish'] as const;
const rule = fc.constantFrom<Rule>('opt_in', 'opt_out', 'exempt');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constantFrom(...ACTS) }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('move'), rule }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('signal'), isOn: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('pass'), days: fc.constantFrom(1, 185, 205) }) },
);
const VALIDITY_DAYS = 180;

/** What somebody knows who watches one visitor and one category: who said what, where and when. */
class Observer {
  rule: Rule;
  #turn = 0;
  #day = 0;
  version = 1;
  /** Turn of the last refusal, objection, or begin of the signal, and of the last act that permits. */
  #no = 0;
  #yes = 0;
  #consent: { readonly turn: number; readonly rule: Rule; readonly version: number; readonly day: number } | undefined;
  #isOptedOut = false;
  #isSignalled = false;
  /** Turn in which the signal came. */
  #signalled = 0;

  constructor(first: Rule) {
    this.rule = first;
  }

  see(what: Step): void {
    this.#turn += 1;
    if (what.act === 'move') this.rule = what.rule;
    else if (what.act === 'pass') this.#day += what.days;
    else if (what.act === 'publish') this.version += 1;
    else if (what.act === 'signal') {
      if (what.isOn && !this.#isSignalled) {
        this.#signalled = this.#turn;
        // Where nothing ran, the signal ends nothing, and nothing is kept of it.
        if (this.rule !== 'opt_in' || this.#yes > 0) this.#no = this.#turn;
      }
      this.#isSignalled = what.isOn;
    } else if (what.act === 'accept') {
      this.#yes = this.#turn;
      if (this.rule !== 'exempt')
        this.#consent = { turn: this.#turn, rule: this.rule, version: this.version, day: this.#day };
    } else if (what.act === 'refuse' || (what.act === 'object' && this.rule === 'exempt')) this.#no = this.#turn;
    else if (what.act === 'take_back' && this.rule !== 'opt_in') {
      this.#yes = this.#turn;
      if (this.rule === 'opt_out') this.#isOptedOut = false;
    } else if (what.act === 'opt_out' || (what.act === 'object' && this.rule === 'opt_out')) this.#isOptedOut = true;
  }

  /** Why the category may not run, or null if it may. */
  get obstacle(): string | null {
    if (this.#no > this.#yes) return 'the last word was no';
    if (this.#isSignalled && this.#signalled > this.#yes) return 'the signal is on';
    if (this.rule === 'opt_out' && this.#isOptedOut) return 'the person opted out';
    if (this.rule !== 'opt_in') return null;
    const consent = this.#consent;
    if (consent === undefined || consent.rule !== 'opt_in') return 'nobody consented where consent is asked';
    if (this.#no > consent.turn) return 'the consent was withdrawn';
    if (consent.version !== this.version) return 'the policy is another one';
    return this.#day - consent.day < VALIDITY_DAYS ? null : 'the period is over';
  }

  /** Whether the category must run: by the rule of the place, as nobody ever said no and no period has ended. */
  get mustRun(): boolean {
    return this.rule !== 'opt_in' && this.#no + this.#signalled === 0 && !this.#isOptedOut && this.#day < VALIDITY_DAYS;
  }
}

async function live(life: Life, observer: Observer, what: Step): Promise<void> {
  if (what.act === 'move') await life.open({ site: { rule: what.rule, isRequest: what.rule === 'opt_out' } });
  else if (what.act === 'publish') await life.open({ site: { version: `v${observer.version}` } });
  else if (what.act === 'signal') await life.open({ isSignalled: what.isOn });
  else if (what.act === 'pass') await life.open({ days: what.days });
  else await life.act(what.act);
}

/** @throws Error if what holds after a step is not what the observer knows */
function check(
  { obstacle, mustRun, rule: now }: Observer,
  { act }: Step,
  seen: Awaited<ReturnType<Life['outcome']>>,
): void {
  const { permitted, asked, recorded } = seen;
  if (permitted && obstacle !== null) throw new Error(`runs under ${now} although ${obstacle}`);
  if (!permitted && mustRun) throw new Error(`does not run under ${now} although nobody said no`);
  if (asked && now === 'exempt') throw new Error('asks for what is exempt from consent');
  if (asked && permitted && now === 'opt_in' && act === 'accept') throw new Error('asks after an answer');
  if (recorded.includes('objection') && now !== 'exempt') throw new Error(`an objection under ${now}`);
}

afterEach(() => vi.useRealTimers());

test('no sequence of acts, places, signals, periods and policies permits what somebody said no to', async () => {
  vi.useFakeTimers();
  const seen = { permitted: 0, obstacles: new Set<string>() };
  await fc.assert(
    fc.asyncProperty(rule, fc.array(step, { minLength: 2, maxLength: 8 }), async (first, steps) => {
      vi.setSystemTime(Date.UTC(2026, 0, 1));
      const life = new Life({ rule: first, isRequest: first === 'opt_out' });
      const observer = new Observer(first);
      for (const what of steps) {
        observer.see(what);
        await live(life, observer, what);
        const outcome = await life.outcome();
        check(observer, what, outcome);
        const { permitted } = outcome;
        const { obstacle } = observer;
        if (permitted) seen.permitted += 1;
        else if (obstacle !== null) seen.obstacles.add(obstacle);
      }
    }),
    { numRuns: 400 },
  );
  expect(seen.permitted).toBeGreaterThan(100);
  expect(seen.obstacles.size).toBeGreaterThan(3);
});
