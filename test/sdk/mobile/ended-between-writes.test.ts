import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Consent } from '../../../sdk/mobile/src/index.js';
import { eventually, until } from '../../support/wait.js';
import { configurationIn } from '../core/model/site.js';
import { Device } from './device.js';

/** A choice writes the choice, the reference, the queue, and the journal of these. */
const MOST_WRITES = 8;

/** A service that accepts everything once the device has a network. */
function openApp(device: Device, received: string[]): Consent {
  return new Consent({
    baseUrl: 'https://consent.example',
    apiKey: 'svc_live_x',
    randomBytes,
    storage: device.storage(),
    fetch: async (_, { body }) => {
      if (device.isInFlight && body !== undefined) throw new TypeError('Network request failed');
      if (body !== undefined) received.push(JSON.stringify(JSON.parse(body).categories));
      const data = { consent_token: `ct_${received.length}`, proof_hash: 'f', duplicate: false, promise: null };
      const accepted = { ...data, created_at: new Date().toISOString() };
      const answer = JSON.stringify({ data: body === undefined ? configurationIn('gdpr') : accepted });
      return { status: body === undefined ? 200 : 202, headers: { get: () => null }, text: async () => answer };
    },
  });
}

test.each(Array.from({ length: MOST_WRITES }, (_, i) => i + 1))(
  'an app that is ended after write %i of a choice loses none that was kept before, and sends all in order',
  async (writes) => {
    const device = new Device(
      () => 'arrives',
      () => 0,
    );
    const received: string[] = [];
    const first = openApp(device, received);
    await first.start();
    device.isInFlight = true;
    for (const analytics of [true, false]) {
      first.choose({ analytics, marketing: true }).catch(() => undefined);
      await first.kept();
    }
    device.writesLeft = writes;
    first.choose({ analytics: true, marketing: false }).catch(() => undefined);
    let isKept = false;
    void first.kept().then(() => {
      isKept = true;
    });
    await until(() => isKept || device.writesLeft === Number.POSITIVE_INFINITY);
    device.kill();
    first.stop();

    const second = openApp(device, received);
    await second.start();
    second.choose({ analytics: false, marketing: false }).catch(() => undefined);
    await second.kept();
    device.isInFlight = false;
    await eventually(() => {
      second.resume();
      expect(second.queued()).toEqual([]);
    });
    second.stop();
    const answers = (analytics: boolean, marketing: boolean) =>
      JSON.stringify({ necessary: true, analytics, marketing });
    const kept = [answers(true, true), answers(false, true), answers(false, false)];
    const withThird = [...kept.slice(0, 2), answers(true, false), ...kept.slice(2)];
    // The choice during which the app was ended is kept whole or not at all.
    expect([kept, withThird]).toContainEqual(received);
  },
);
