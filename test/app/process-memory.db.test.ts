import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { assertAcceptedKept, ConsentsLost, createProcessMemory, noteAccepted } from '../../src/app/process-memory.js';
import { openLedgerWorld } from '../evidence/package/ledger-world.js';

test('misses one of several accepted consents in a database that went back in time', async () => {
  const world = await openLedgerWorld();
  onTestFinished(() => world.close());
  const memory = createProcessMemory();
  noteAccepted(memory, await world.record(world.site, [{ visitorId: 'ann' }, { visitorId: 'ben' }]));
  await assertAcceptedKept(world.pipeline.worker, memory);
  noteAccepted(memory, [randomUUID()]);
  await expect(assertAcceptedKept(world.pipeline.worker, memory)).rejects.toThrow(ConsentsLost);
});
