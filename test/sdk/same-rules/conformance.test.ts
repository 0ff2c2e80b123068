import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Adapter, conformance, sameAs } from '../../../sdk/conformance/src/index.js';
import { appAdapter } from './app-adapter.js';
import { faulty, PLANTED_FAULTS } from './planted-faults.js';

/** Names of the rules that an SDK breaks, and what the suite says about each. */
async function brokenBy(adapter: Adapter): Promise<ReadonlyMap<string, string>> {
  const broken = new Map<string, string>();
  for (const { name, run } of conformance())
    await run(adapter).catch((error: unknown) => {
      broken.set(name, String(error));
    });
  return broken;
}

describe('the conformance suite', () => {
  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each(conformance())('the SDK for apps: $name', ({ run }) => run(appAdapter));

  test('names the rule that an SDK breaks by permitting before a choice, what was done, expected and seen', async () => {
    const broken = await brokenBy(
      faulty('hasty', (sound) => ({
        allows: (category) => sound.state.choice === null || sound.allows(category),
      })),
    );
    const rule = 'permits nothing optional before a choice, and asks';
    expect(broken.get(rule)).toBe(
      `ConformanceError: hasty: ${rule}
  after     site {"law":"gdpr"}, start
  expected  allows(category): {"necessary":true,"analytics":false,"marketing":false,"unknown":false}
  seen      allows(category): {"necessary":true,"analytics":true,"marketing":true,"unknown":true}`,
    );
  });

  test('names the rule that an SDK breaks by keeping what was withdrawn', async () => {
    const permitted = new Set<string>();
    const broken = await brokenBy(
      faulty('stubborn', (sound) => ({
        allows: (category) => {
          if (sound.allows(category)) permitted.add(category);
          return permitted.has(category);
        },
      })),
    );
    expect([...broken.keys()]).toContain('keeps nothing permitted that was withdrawn');
  });

  test('names the rules that an SDK breaks by ignoring the signal', async () => {
    const deaf: Adapter = {
      name: 'deaf',
      open: (device) => appAdapter.open({ ...device, isSignalled: () => false }),
    };
    const broken = await brokenBy(deaf);
    expect([...broken.keys()]).toEqual([
      'states in the record of a signal what it does, and that it was one',
      'asks nothing and permits nothing optional while the signal is on',
      'lets the signal end at once what an earlier choice permitted',
      'lets the signal end what was permitted also while the configuration is on its way, and without a network',
      'records the signal as the withdrawal of what was permitted, where the law makes it no request',
      'records the signal once as an opt-out of sale, where the law makes it a request',
      'lets a signal that comes again end what was chosen while it was on before',
      'lets the signal end what runs by the rule of the place, and keeps it ended when the signal ends',
      'lets the signal end what a switch of a service permitted',
    ]);
    const { run } = sameAs(appAdapter, { seed: 35, count: 20 });
    await expect(run(deaf)).rejects.toThrow(/deaf: shows, sends and keeps the same as mobile[\s\S]*"signal"/);
    await run(appAdapter);
  });

  test.each(PLANTED_FAULTS)('finds the planted fault “$adapter.name” by the rule: $rule', async ({ adapter, rule }) => {
    const found = conformance().find(({ name }) => name === rule);
    await expect(found?.run(adapter)).rejects.toThrow(`${adapter.name}: ${rule}`);
  });

  test('puts back the clock and the timers that it replaced', async () => {
    const before = [Date.now, Math.random, setTimeout, clearTimeout];
    await conformance()[0]?.run(appAdapter);
    expect([Date.now, Math.random, setTimeout, clearTimeout]).toEqual(before);
  });
});
