// A catch-up subscription: reads the consents and erasures of every site from the beginning, in
// order, and then new ones as they arrive. It keeps its own position. See docs/eventstoredb.md.
import { EventStoreDBClient, START, STREAM_NAME } from '@eventstore/db-client';
import { type ConsentEvent, readConsent, readErasedId } from './read-event.js';

/** Your copy of the data. Each method is one transaction, which stores the position as well. */
export interface Copy {
  /** The position after which to continue; null: from the beginning. */
  position(): Promise<{ readonly commit: bigint; readonly prepare: bigint } | null>;
  /** Must not fail for a consent that it already has: an event can arrive again. */
  put(consent: ConsentEvent, position: { readonly commit: bigint; readonly prepare: bigint }): Promise<void>;
  /** Must not fail for a record that it does not have. */
  erase(eventId: string, position: { readonly commit: bigint; readonly prepare: bigint }): Promise<void>;
}

/** Follows the log until the subscription ends with an error. Call it again then: it continues. */
export async function follow(connectionString: string, copy: Copy): Promise<void> {
  const client = EventStoreDBClient.connectionString(connectionString);
  const subscription = client.subscribeToAll({
    fromPosition: (await copy.position()) ?? START,
    filter: { filterOn: STREAM_NAME, prefixes: ['consents-'], checkpointInterval: 1_000 },
  });
  try {
    for await (const { event } of subscription) {
      if (event === undefined) continue;
      const consent = readConsent(event);
      const erased = readErasedId(event);
      if (consent !== null) await copy.put(consent, event.position);
      if (erased !== null) await copy.erase(erased, event.position);
    }
  } finally {
    await client.dispose();
  }
}
