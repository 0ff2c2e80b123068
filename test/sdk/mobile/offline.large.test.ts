import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Consent, type MobileOptions } from '../../../sdk/mobile/src/index.js';
import { ConsentLedger } from '../../../sdk/node/src/index.js';
import type { ExportedConsent } from '../../../sdk/shared/types.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { sampled } from '../../support/sweeps.js';
import { eventually } from '../../support/wait.js';
import { Device, type Way } from './device.js';

const ORIGIN = 'app://com.example.shop';
const SEED = Number(process.env.CHOICE_SEED ?? 35);
const SEQUENCES = Number(process.env.DEVICE_SEQUENCES ?? 60);
const STEPS = 14;

/** A small generator of random numbers (mulberry32), so that a failure repeats. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('the SDK for apps, with the real service', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let ledger: ConsentLedger;
  beforeAll(async () => {
    app = await startApp('serve');
    demo = await app.seed({ allowedOrigins: [ORIGIN] });
    ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
  });
  afterAll(() => app?.stop());

  const open = (device: Device, options: Partial<MobileOptions> = {}): Consent =>
    new Consent({
      baseUrl: app.url,
      apiKey: demo.keys.write,
      origin: ORIGIN,
      storage: device.storage(),
      fetch: device.fetch(),
      randomBytes,
      ...options,
    });
  const recordsOf = async (visitor_id: string, count: number): Promise<readonly ExportedConsent[]> =>
    eventually(async () => {
      const records: ExportedConsent[] = [];
      for await (const record of ledger.exportRecords({ visitor_id })) records.push(record);
      expect(records).toHaveLength(count);
      return records;
    });
  /** Times of the choices that are recorded, in the order of the records. */
  const timesOf = async (visitor: string, accepted: number): Promise<readonly number[]> =>
    (await recordsOf(visitor, accepted))
      .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
      .map(({ metadata }) => Date.parse(String(metadata?.chosen_at)));
  const isSent = (consent: Consent): Promise<void> =>
    eventually(() => {
      consent.resume();
      expect(consent.queued()).toEqual([]);
    });
  const quiet = () =>
    new Device(
      () => 'arrives',
      () => 0,
    );

  test('a choice in flight mode arrives once, with its own time and promise, after the app was ended', async () => {
    const device = quiet();
    const first = open(device);
    expect(await first.start()).toMatchObject({ status: 'needed' });
    device.isInFlight = true;
    const before = Date.now();
    const answer = first.acceptAll();
    const chosen = Date.now();
    expect(first.allows('analytics')).toBe(true);
    await first.kept();
    device.kill();
    first.stop();
    const second = open(device);
    expect(await second.start()).toMatchObject({ status: 'chosen' });
    expect(second.allows('analytics')).toBe(true);
    expect(second.queued()).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    device.isInFlight = false;
    await isSent(second);
    await second.kept();
    device.kill();
    second.stop();
    const third = open(device);
    await third.start();
    await isSent(third);
    const [kept] = third.records();
    expect(kept?.promise).toMatchObject({ index: 0 });
    const [sent] = await recordsOf(idIn(device), 1);
    expect(sent).toMatchObject({ decision: 'accepted', channel: 'browser', consent_token: kept?.consent_token });
    const at = Date.parse(String(sent?.metadata?.chosen_at));
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(chosen);
    expect(Date.parse(sent?.created_at ?? '')).toBeGreaterThan(chosen);
    third.stop();
    // The first run of the app never got an answer.
    await expect(Promise.race([answer, Promise.resolve('waits')])).resolves.toBe('waits');
  });

  const seeds = Array.from({ length: SEQUENCES }, (_, i) => SEED + i);
  test.each(sampled('devices that lose requests and end apps', seeds))(
    'lossy network and ended runs, seed %i: each kept choice is recorded once, in order, with its own time',
    async (seed) => {
      const random = randomOf(seed);
      const pick = <T>(...values: readonly [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0];
      const device = new Device(
        () => pick<Way>('arrives', 'arrives', 'before', 'after'),
        () => Math.floor(random() * 6),
      );
      let consent = open(device);
      await consent.start();
      // Without a network, an app that was ended has the texts that it read before.
      await consent.kept();
      // A choice whose run was ended before it was kept may be lost.
      const made: { readonly from: number; readonly to: number; readonly isKept: boolean }[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const what = pick('choose', 'choose', 'choose', 'flight', 'kill', 'resume', 'wait');
        if (what === 'choose') {
          // The time of a choice names it: no two have the same.
          await new Promise((resolve) => setTimeout(resolve, 2));
          const from = Date.now();
          consent.choose({ analytics: pick(true, false), marketing: pick(true, false) }).catch(() => undefined);
          const to = Date.now();
          const isKept = pick(true, true, false);
          if (isKept) await consent.kept();
          made.push({ from, to, isKept });
        } else if (what === 'flight') device.isInFlight = !device.isInFlight;
        else if (what === 'resume') consent.resume();
        else if (what === 'wait') await new Promise((resolve) => setTimeout(resolve, 15));
        else {
          device.kill();
          consent.stop();
          consent = open(device);
          await consent.start();
        }
      }
      device.isInFlight = false;
      await isSent(consent);
      await consent.kept();
      consent.stop();
      const visitor = idIn(device);
      const times = visitor === '' ? [] : await timesOf(visitor, device.accepted);
      // Each record is that of one choice, in their order.
      const choices = times.map((at) => made.findIndex(({ from, to }) => from <= at && at <= to));
      expect(choices).not.toContain(-1);
      expect(choices).toEqual([...new Set(choices)].toSorted((a, b) => a - b));
      expect(made.flatMap(({ isKept }, i) => (isKept && !choices.includes(i) ? i : []))).toEqual([]);
      expect(consent.records().map(({ promise }) => promise?.index)).toEqual(choices.map(() => 0));
    },
  );

  test('an app that states another origin is refused, and permits nothing', async () => {
    const consent = open(quiet(), { origin: 'app://com.example.other' });
    expect(await consent.start()).toMatchObject({ status: 'unavailable', error: { code: 'ORIGIN_NOT_ALLOWED' } });
    expect(consent.allows('analytics')).toBe(false);
    expect(() => consent.acceptAll()).toThrow('origin');
    consent.stop();
  });

  /** The reference that the app made for the person. */
  const idIn = (device: Device): string => JSON.parse(device.kept.get('_svc_consent:visitor') ?? '""');
});
