import type { EventLog, LoggedEvent, Position } from '../../../src/pipeline/event-log/port.js';
import type { FaultyProxy } from '../../support/faulty-proxy.js';

export interface OpenOptions {
  /** Proxy of `startProxy` through which the adapter connects. */
  readonly through?: FaultyProxy;
  readonly appendDeadlineMs?: number;
  readonly onInterruption?: (error: unknown) => void;
  readonly onForeign?: (event: LoggedEvent) => void;
}

/** A real server of one kind, and adapters to it. */
export interface EventLogFixture {
  /** Message of the server when it drops a slow subscription; null if it never does. */
  readonly slowConsumerMessage: RegExp | null;
  /**
   * A position near the end of the log, from which `currentEnd` starts. A growing log therefore
   * does not slow the suite down.
   */
  knownEnd: Position | null;
  /** Opens a new adapter; the fixture closes it at the end. */
  open(options?: OpenOptions): EventLog;
  /** Starts a new proxy in front of the server; the fixture closes it at the end. */
  startProxy(): Promise<FaultyProxy>;
  /** Writes an event as another program does, at the end of any stream. */
  writeForeign(stream: string, type: string): Promise<void>;
  /** Removes the first events of a stream, as the server does by its metadata. */
  removeFirst(stream: string, count: number): Promise<void>;
  /** Deletes a stream for good. */
  deleteStream(stream: string): Promise<void>;
  close(): Promise<void>;
}

/** A server of this caller only. */
export interface RestartableFixture extends EventLogFixture {
  /** Kills the server and restarts it on the same data; resolves when it responds. */
  restartServer(): Promise<void>;
}
