import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Household, later, PERSON, settled } from './household.js';
import { Table } from './table.js';

const table = Table.parse(JSON.parse(readFileSync(new URL('table.json', import.meta.url), 'utf8')));

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-12-01T08:00:00.000Z') });
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Brings a device to what the table says of it, without the account. */
async function prepared(household: Household, state: string, isOnDevice = true): Promise<void> {
  const device = household.device(isOnDevice ? 'this' : 'other');
  const person = isOnDevice ? undefined : PERSON;
  const act = { accepted: 'accept', refused: 'refuse', opted_out: 'opt_out' } as const;
  if (state === 'ended') {
    const before = await device.open();
    await before.act('accept');
    await before.signIn('somebody else');
    await before.act('refuse');
    await before.signOut();
    device.close(before);
  } else if (state === 'accepted' || state === 'refused' || state === 'opted_out') {
    const tab = await device.open(person);
    await tab.act(act[state]);
    device.close(tab);
  }
}

describe('which choice counts', () => {
  test.each(table.cells)(
    'device %s, account %s, signal %s, signed in %s',
    async (deviceState, account, signal, isSignedIn, runs, opted_out, asks) => {
      const household = new Household();
      household.law = signal === 'request' ? 'ccpa' : 'gdpr';
      await prepared(household, deviceState);
      await prepared(household, account, false);
      const device = household.device('this');
      device.isSignalled = signal !== 'off';
      if (account === 'unread' && isSignedIn === 'yes') device.isHeldUp = true;
      const tab = await device.open(isSignedIn === 'yes' ? PERSON : undefined);
      expect(tab.outcome).toEqual({ runs, opted_out, asks });
    },
  );
});

describe('what a device has after an act while signed in, and signing out', () => {
  test.each(table.signed_out)('device %s, %s', async (deviceState, act, runs, opted_out, asks) => {
    const household = new Household();
    await prepared(household, deviceState);
    const tab = await household.device('this').open(PERSON);
    await tab.act(act);
    later();
    await tab.signOut();
    await settled();
    expect(tab.outcome).toEqual({ runs, opted_out, asks });
    // The same on the next page.
    household.device('this').close(tab);
    expect((await household.device('this').open()).outcome).toEqual({ runs, opted_out, asks });
  });
});
