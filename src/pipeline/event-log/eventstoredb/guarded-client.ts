import { EventStoreDBClient } from '@eventstore/db-client';

/**
 * Creates a client whose background failures cannot end the process. After each failed call, the library prepares a new
 * connection in the background, and nothing catches what fails there. While a cluster has no quorum, a second failing
 * call waits for the same search for a leader, its rejection is unhandled, and Node would end the process. The call
 * itself still fails for its caller. The library has no hook for these failures, so its private method is wrapped by
 * name, and a version without that method is refused.
 * @param onInterruption receives what failed in the background
 * @throws Error if the connection string is invalid
 */
export function createGuardedClient(
  connectionString: string,
  onInterruption: (error: unknown) => void,
): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(connectionString);
  const prepare: unknown = Reflect.get(client, 'handleError');
  if (typeof prepare !== 'function') throw new Error('this version of the client cannot be guarded');
  const guarded = async (...values: readonly unknown[]): Promise<void> => {
    try {
      await Reflect.apply(prepare, client, values);
    } catch (error) {
      onInterruption(error);
    }
  };
  Reflect.set(client, 'handleError', guarded);
  return client;
}
