import { shareReads } from '../../../src/pipeline/event-log/shared-reads.js';
import { describeRestartedEventLog } from './contract.js';
import { startRestartablePostgres } from './postgres-fixture.js';

describeRestartedEventLog('postgres', startRestartablePostgres);

describeRestartedEventLog('postgres, with shared reads,', async () => {
  const fixture = await startRestartablePostgres();
  return { ...fixture, open: (options) => shareReads(fixture.open(options)) };
});
