import { exec } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { createEventStoreDbEventLog } from '../../../src/pipeline/event-log/eventstoredb/eventstoredb-event-log.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { until } from '../../support/wait.js';
import type { OpenOptions, RestartableFixture } from './fixture.js';

/** Duration of a simulated outage of a server that cannot be restarted, in milliseconds. */
const OUTAGE_MS = 2_000;

/**
 * Connects to the EventStoreDB server of a connection string: a single node, without TLS or with a
 * certificate for 127.0.0.1.
 * @param restartCommand shell command that kills the server and restarts it on the same data.
 *   Without it, a proxy simulates the restart: it cuts every connection and refuses new ones for a
 *   while.
 */
export async function reachEventStoreDb(
  connectionString: string,
  restartCommand?: string,
): Promise<RestartableFixture> {
  const server = new URL(connectionString);
  const target = { host: server.hostname, port: Number(server.port || 2113) };
  const front = await FaultyProxy.start(target);
  const proxies: FaultyProxy[] = [front];
  const logs: EventLog[] = [];

  const open = (options: OpenOptions = {}): EventLog => {
    const host = `127.0.0.1:${(options.through ?? front).port}`;
    const log = createEventStoreDbEventLog(connectionString.replace(server.host, host), {
      ...(options.appendDeadlineMs === undefined ? {} : { appendDeadlineMs: options.appendDeadlineMs }),
      ...(options.onInterruption === undefined ? {} : { onInterruption: options.onInterruption }),
      ...(options.onForeign === undefined ? {} : { onForeign: options.onForeign }),
    });
    logs.push(log);
    return log;
  };
  const answers = async (): Promise<boolean> => {
    const log = open();
    return log.ping().then(
      () => true,
      () => false,
    );
  };

  const other = EventStoreDBClient.connectionString(connectionString);
  return {
    slowConsumerMessage: /too slow/i,
    knownEnd: null,
    open,
    async startProxy() {
      const proxy = await FaultyProxy.start(target);
      proxies.push(proxy);
      return proxy;
    },
    async restartServer() {
      if (restartCommand === undefined) {
        front.refuseConnections();
        await sleep(OUTAGE_MS);
        front.restore();
      } else {
        // The server interprets every variable EVENTSTORE_… as a setting, and refuses unknown ones.
        const { EVENTSTORE_URL: _, EVENTSTORE_RESTART_COMMAND: __, ...env } = process.env;
        await promisify(exec)(restartCommand, { env });
      }
      await until(answers);
    },
    async writeForeign(stream, type) {
      await other.appendToStream(stream, jsonEvent({ type, data: { total: 1 } }));
    },
    async removeFirst(stream, count) {
      await other.setStreamMetadata(stream, { truncateBefore: count });
    },
    async deleteStream(stream) {
      await other.tombstoneStream(stream);
    },
    async close() {
      await other.dispose();
      await Promise.all(logs.map((log) => log.close()));
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}
