import { afterAll, beforeAll, describe } from 'vitest';
import { describeAppending } from './contract/appending.js';
import { describeBytes } from './contract/bytes.js';
import { describeDamage } from './contract/damage.js';
import { describeLostAnswers } from './contract/lost-answers.js';
import { describeReading } from './contract/reading.js';
import { describeRestarts, describeSubscribing } from './contract/subscribing.js';
import type { EventLogFixture, RestartableFixture } from './fixture.js';

/**
 * Runs the contract of the `EventLog` port against a real server. The log may contain other events,
 * because every test uses separate streams.
 * @param name of the adapter
 * @param makeFixture starts or reaches the server, once for the whole suite
 */
export function describeEventLogContract(name: string, makeFixture: () => Promise<EventLogFixture>): void {
  withFixture(name, makeFixture, (current) => {
    describeAppending(current);
    describeBytes(current);
    describeDamage(current);
    describeLostAnswers(current);
    describeReading(current);
    describeSubscribing(current);
  });
}

/** Runs the part of the contract that kills the server. */
export function describeRestartedEventLog(name: string, makeFixture: () => Promise<RestartableFixture>): void {
  withFixture(name, makeFixture, describeRestarts);
}

function withFixture<F extends EventLogFixture>(
  name: string,
  makeFixture: () => Promise<F>,
  describeTests: (current: () => F) => void,
): void {
  describe(`${name} event log`, () => {
    let fixture: F | undefined;
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(() => fixture?.close());
    describeTests(() => {
      if (fixture === undefined) throw new Error('the fixture was not made');
      return fixture;
    });
  });
}
