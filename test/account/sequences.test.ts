import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Household, later, settled, type Tab } from './household.js';
import { Observer } from './observer.js';
import { FAULTS, type Fault } from './planted-faults.js';
import { Table } from './table.js';

const table = Table.parse(JSON.parse(readFileSync(new URL('table.json', import.meta.url), 'utf8')));
const DEVICES = ['own', 'shared'] as const;

const step = fc.record({
  device: fc.constantFrom(...DEVICES),
  tab: fc.nat(1),
  person: fc.constantFrom('a', 'b'),
  does: fc.constantFrom(
    ...(['accept', 'accept', 'refuse', 'partial', 'opt_out', 'open', 'sign in', 'sign in', 'sign out'] as const),
    ...(['network', 'network', 'forge', 'erase'] as const),
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface OpenTab {
  readonly tab: Tab;
  person: string | undefined;
  since: number;
}

/** The tabs of a household, whose every page the observer judges. */
class Play {
  readonly household: Household;
  readonly observer: Observer;
  readonly tabs = new Map<string, OpenTab>();

  constructor(fault?: Fault) {
    this.household = new Household(fault);
    this.observer = new Observer(table, () => this.household.service.records);
  }

  async do({ device: name, tab: at, person, does }: Step): Promise<void> {
    const key = `${name} ${at}`;
    const device = this.household.device(name);
    const open = this.tabs.get(key) ?? (await this.open(key, name));
    switch (does) {
      case 'open':
        device.close(open.tab);
        await this.open(key, name, open.person);
        break;
      case 'sign in':
        open.person = name === 'own' ? 'a' : person;
        open.since = Date.now();
        await open.tab.signIn(open.person);
        break;
      case 'sign out':
        open.person = undefined;
        await open.tab.signOut();
        break;
      case 'network':
        device.hasNetwork = !device.hasNetwork;
        if (device.hasNetwork) await device.resume();
        break;
      case 'forge':
        this.household.service.forge('a', Date.now());
        break;
      case 'erase':
        this.household.service.erase('a');
        break;
      default: {
        const when = await open.tab.act(does);
        if (when !== null) this.observer.acted(name, open.person, does, when);
      }
    }
  }

  async open(key: string, name: string, person?: string): Promise<OpenTab> {
    const tab = await this.household.device(name).open(person);
    const open: OpenTab = { tab, person, since: Date.now() };
    this.tabs.set(key, open);
    return open;
  }

  /** @throws AssertionError if a page runs what it must not */
  check(after: string): void {
    this.observer.look(Date.now());
    for (const [where, { tab, person, since }] of this.tabs) {
      const [device = ''] = where.split(' ');
      if (tab.outcome.runs === 'yes')
        expect(this.observer.mayRun(device, person, since), `${where} runs for ${person} after ${after}`).toBe(true);
    }
  }

  /** Everything arrives, and every page is opened anew. @throws AssertionError */
  async end(): Promise<void> {
    for (const { tab } of this.tabs.values()) tab.device.close(tab);
    for (const name of DEVICES) this.household.device(name).hasNetwork = true;
    for (const isJudged of [false, true])
      for (const name of DEVICES) for (const person of [undefined, 'a', 'b']) await this.#visit(name, person, isJudged);
  }

  async #visit(name: string, person: string | undefined, isJudged: boolean): Promise<void> {
    later();
    const tab = await this.household.device(name).open(person);
    await settled();
    this.observer.look(Date.now());
    const expected = this.observer.expected(name, person);
    const seen = { ...tab.outcome, ...(expected.asks === undefined && { asks: undefined }) };
    if (isJudged) expect(seen, `${name} ${person}`).toEqual(expected);
    this.household.device(name).close(tab);
  }
}

/** @throws AssertionError */
async function play(steps: readonly Step[], fault?: Fault): Promise<void> {
  vi.setSystemTime(Date.parse('2026-12-01T08:00:00.000Z'));
  const household = new Play(fault);
  for (const step of steps) {
    await household.do(step);
    household.check(step.does);
  }
  await household.end();
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const sequences = fc.array(step, { maxLength: 14 });

describe('one person on several devices', () => {
  test('runs nothing that somebody said no to, in any sequence, and ends as the table says', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, (steps) => play(steps)),
      { numRuns: Number(process.env.ACCOUNT_SEQUENCES ?? 150), seed: Number(process.env.ACCOUNT_SEED ?? 58) },
    );
  });

  test.each(FAULTS)('finds the planted fault “$name”', async ({ fault }) => {
    const { failed } = await fc.check(
      fc.asyncProperty(sequences, (steps) => play(steps, fault)),
      { numRuns: 400, seed: 58, endOnFailure: true },
    );
    expect(failed).toBe(true);
  });
});
