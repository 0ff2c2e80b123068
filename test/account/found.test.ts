import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Household, later, PERSON, settled, Tab } from './household.js';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-12-01T08:00:00.000Z') });
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('what was found by attacking', () => {
  test('keeps the opt-out of a device whose person took one back elsewhere, on every page', async () => {
    const household = new Household();
    household.law = 'ccpa';
    const other = await household.device('other').open(PERSON);
    await other.act('accept');
    await other.act('opt_out');
    later();
    other.consent.optOutOfSale(false).catch(() => undefined);
    await settled();
    const device = household.device('this');
    const before = await device.open();
    await before.act('opt_out');
    device.close(before);
    for (const _ of [1, 2]) {
      const tab = await device.open(PERSON);
      expect(tab.outcome.opted_out).toBe('yes');
      device.close(tab);
    }
  });

  test('takes an opt-out back that was made here, and not on the others', async () => {
    const household = new Household();
    household.law = 'ccpa';
    const device = household.device('this');
    const tab = await device.open(PERSON);
    await tab.act('accept');
    await tab.act('opt_out');
    later();
    tab.consent.optOutOfSale(false).catch(() => undefined);
    await settled();
    expect(tab.outcome.opted_out).toBe('no');
    expect((await device.open(PERSON)).outcome.opted_out).toBe('no');
  });

  test('heeds a request by signal that the device heeded before the person signed in', async () => {
    const household = new Household();
    household.law = 'ccpa';
    const other = await household.device('other').open(PERSON);
    await other.act('accept');
    const device = household.device('this');
    const before = await device.open();
    await before.act('accept');
    device.isSignalled = true;
    device.close(before);
    device.close(await device.open());
    const tab = await device.open(PERSON);
    expect(tab.outcome).toMatchObject({ runs: 'no', opted_out: 'yes' });
    expect((await household.device('other').open(PERSON)).outcome.opted_out).toBe('yes');
  });

  test('keeps an objection of the device', async () => {
    const household = new Household();
    household.rules = { analytics: 'exempt' };
    const other = await household.device('other').open(PERSON);
    await other.act('accept');
    const device = household.device('this');
    const before = await device.open();
    later();
    before.consent.choose({ marketing: true, analytics: false }).catch(() => undefined);
    await settled();
    expect(before.consent.allows('analytics')).toBe(false);
    device.close(before);
    for (const _ of [1, 2]) {
      const tab = await device.open(PERSON);
      expect(tab.consent.allows('analytics')).toBe(false);
      device.close(tab);
    }
  });

  test('keeps a refusal of the device where the account was asked less', async () => {
    const household = new Household();
    const device = household.device('this');
    const before = await device.open();
    await before.act('partial');
    device.close(before);
    household.rules = { marketing: 'exempt' };
    expect((await device.open()).consent.allows('marketing')).toBe(false);
    const other = await household.device('other').open(PERSON);
    await other.act('accept');
    expect(household.service.records.at(-1)?.exempt).toEqual(['marketing']);
    for (const _ of [1, 2]) {
      const tab = await device.open(PERSON);
      expect(tab.consent.allows('marketing')).toBe(false);
      device.close(tab);
    }
  });

  test('asks nobody before the account is read, not even in another language', async () => {
    const household = new Household();
    const device = household.device('this');
    device.isHeldUp = true;
    const tab = await device.open(PERSON);
    await tab.consent.setLanguage('en');
    expect(tab.outcome.asks).toBe('loading');
    expect(() => tab.consent.acceptAll()).toThrow();
    expect(tab.outcome.runs).toBe('no');
    expect(household.service.records).toEqual([]);
  });

  test('asks nobody when the account cannot be read, not even in another language', async () => {
    const household = new Household();
    const device = household.device('this');
    const tab = await device.open();
    device.hasNetwork = false;
    await tab.signIn(PERSON);
    device.hasNetwork = true;
    await tab.consent.setLanguage('en');
    await settled();
    expect(() => tab.consent.acceptAll()).toThrow();
    await settled();
    expect(tab.outcome.runs).toBe('no');
    expect(household.service.records).toEqual([]);
  });

  test('keeps the refusal of a device that is to be asked again', async () => {
    const household = new Household();
    const device = household.device('this');
    const before = await device.open();
    await before.act('refuse');
    device.close(before);
    vi.setSystemTime(Date.now() + 201 * 86_400_000);
    const other = await household.device('other').open(PERSON);
    await other.act('accept');
    for (const _ of [1, 2]) {
      const tab = await device.open(PERSON);
      expect(tab.outcome).toMatchObject({ runs: 'no' });
      device.close(tab);
    }
  });

  test('keeps an opt-out before many other consents of the account', async () => {
    const household = new Household();
    household.law = 'ccpa';
    const other = await household.device('other').open(PERSON);
    await other.act('opt_out');
    for (let at = 0; at < 21; at += 1) await other.act('partial');
    expect((await household.device('this').open(PERSON)).outcome.opted_out).toBe('yes');
  });

  test('knows a refusal of another tab that was recorded while the account was read', async () => {
    const household = new Household();
    const device = household.device('this');
    const first = await device.open(PERSON);
    await first.act('accept');
    const tab = await device.open(PERSON);
    device.delayMs = 500;
    later();
    first.consent.rejectAll().catch(() => undefined);
    tab.look();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(household.service.records.at(-1)?.decision).toBe('withdrawn');
    expect(tab.outcome.runs).toBe('no');
  });

  test('records a request by signal for an account that refused', async () => {
    const household = new Household();
    household.law = 'ccpa';
    const other = await household.device('other').open(PERSON);
    await other.act('refuse');
    const device = household.device('this');
    device.isSignalled = true;
    await device.open(PERSON);
    expect((await household.device('third').open(PERSON)).outcome.opted_out).toBe('yes');
  });

  test('sends nothing after it was stopped', async () => {
    const household = new Household();
    const device = household.device('this');
    const first = await device.open(PERSON);
    device.hasNetwork = false;
    await first.act('accept');
    device.close(first);
    device.hasNetwork = true;
    device.delayMs = 500;
    const { consent } = new Tab(device, PERSON);
    void consent.start();
    await vi.advanceTimersByTimeAsync(100);
    consent.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(household.service.records).toEqual([]);
  });
});
