import { describe, it } from 'vitest';
import { describeEventLogContract } from './contract.js';
import { reachEventStoreDb } from './eventstoredb-fixture.js';

const url = process.env.EVENTSTORE_URL;
const restartCommand = process.env.EVENTSTORE_RESTART_COMMAND;

if (url === undefined) {
  console.log('SKIPPED: the EventStoreDB contract suite needs a server; name it in EVENTSTORE_URL.');
  describe.skip('eventstoredb event log (EVENTSTORE_URL is not set)', () => {
    it('keeps the contract of the event log', () => undefined);
  });
} else {
  if (restartCommand === undefined) {
    console.log(
      'EVENTSTORE_RESTART_COMMAND is not set: a restart is played by a proxy that cuts and refuses connections.',
    );
  }
  describeEventLogContract('eventstoredb', () => reachEventStoreDb(url, restartCommand));
}
