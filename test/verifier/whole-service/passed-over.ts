import { consentsStream } from '../../../schemas/events/streams.js';
import { createPostgresEventLog } from '../../../src/pipeline/event-log/postgres/postgres-event-log.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { headOf, leafOf } from '../../../src/pipeline/ledger/ledger-state.js';
import { readSealedHeads } from '../../../src/pipeline/ledger/sealed-heads.js';
import { assignTags } from '../../../src/pipeline/sealer/assign-tags.js';
import { sealBatch } from '../../../src/pipeline/sealer/seal.js';
import type { OperatedInstallation } from './installation.js';

/**
 * Seals a batch that passes over the first consent of a site that is not sealed yet, and has the second
 * one. The sealer is the service's own: the operator only tells it that the first one was sealed before.
 * @throws RangeError unless two consents wait
 */
export async function sealPassingOver(operator: OperatedInstallation, siteId: string): Promise<void> {
  const url = operator.database.url;
  const stream = consentsStream(siteId);
  const eventLog = createPostgresEventLog({ url, role: 'consent_ledger_worker' });
  try {
    await operator.withKeys(async (keyring, db) => {
      const state = await catchUpLedger(db, eventLog);
      const head = (await readSealedHeads(db, state, [stream])).get(stream);
      if (head === undefined) throw new RangeError('the site has no sealed event');
      const [hidden, next] = await eventLog.readStream(stream, head.revision + 1, 2);
      if (hidden === undefined || next === undefined) throw new RangeError('no two consents wait');
      const events = [hidden, next].map((event) => ({ ...event, position: '0' }));
      const tags = await assignTags(db, keyring, new Map(), events);
      const tagOf = ({ id }: { readonly id: string }): Uint8Array | null => tags.get(id) ?? null;
      const passedOver = headOf(leafOf(hidden, head, tagOf(hidden)));
      state.heads.set(stream, passedOver);
      const leaves = [leafOf(next, passedOver, tagOf(next))];
      const { sealed } = await sealBatch(db, eventLog, state, { leaves, logPosition: null }, new Date());
      if (!sealed) throw new RangeError('another sealer was first');
    });
  } finally {
    await eventLog.close();
  }
}
