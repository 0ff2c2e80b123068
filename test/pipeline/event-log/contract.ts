import { afterAll, beforeAll, describe } from 'vitest';
import { describeAppending } from './contract/appending.js';
import { describeBytes } from './contract/bytes.js';
import { describeDamage } from './contract/damage.js';
import { describeLostAnswers } from './contract/lost-answers.js';
import { describeReading } from './contract/reading.js';
import { describeSubscribing } from './contract/subscribing.js';
import type { EventLogFixture } from './fixture.js';

/**
 * Runs the contract of the `EventLog` port against a real server. The log may contain other events,
 * because every test uses separate streams.
 * @param name of the adapter
 * @param makeFixture starts or reaches the server, once for the whole suite
 */
export function describeEventLogContract(name: string, makeFixture: () => Promise<EventLogFixture>): void {
  describe(`${name} event log`, () => {
    let fixture: EventLogFixture | undefined;
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(() => fixture?.close());
    const current = (): EventLogFixture => {
      if (fixture === undefined) throw new Error('the fixture was not made');
      return fixture;
    };

    describeAppending(current);
    describeBytes(current);
    describeDamage(current);
    describeLostAnswers(current);
    describeReading(current);
    describeSubscribing(current);
  });
}
