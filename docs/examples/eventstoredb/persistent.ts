// A persistent subscription: the server keeps the position of a group, whose consumers share the
// events of one site. Events can arrive out of order and more than once. See docs/eventstoredb.md.
import {
  EventStoreDBClient,
  PARK,
  PersistentSubscriptionExistsError,
  persistentSubscriptionToStreamSettingsFromDefaults,
  START,
} from '@eventstore/db-client';
import { type ConsentEvent, readConsent } from './read-event.js';

/** Handles the consents of one site until the subscription ends with an error. */
export async function consume(
  connectionString: string,
  siteId: string,
  group: string,
  handle: (consent: ConsentEvent) => Promise<void>,
): Promise<void> {
  const client = EventStoreDBClient.connectionString(connectionString);
  const stream = `consents-${siteId}`;
  try {
    await client.createPersistentSubscriptionToStream(
      stream,
      group,
      persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: START, maxRetryCount: 10 }),
    );
  } catch (error) {
    if (!(error instanceof PersistentSubscriptionExistsError)) throw error;
  }
  const subscription = client.subscribeToPersistentSubscriptionToStream(stream, group);
  try {
    for await (const resolved of subscription) {
      if (resolved.event === undefined) continue;
      try {
        const consent = readConsent(resolved.event);
        if (consent !== null) await handle(consent);
        await subscription.ack(resolved);
      } catch (error) {
        // A parked event waits in a stream of its own until an operator replays it.
        await subscription.nack(PARK, error instanceof Error ? error.message : 'failed', resolved);
      }
    }
  } finally {
    await client.dispose();
  }
}
