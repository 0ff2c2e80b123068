import type { EventLog, Position } from '../../../src/pipeline/event-log/port.js';
import type { FaultyProxy } from '../../support/faulty-proxy.js';

export interface OpenOptions {
  /** Reach the server through this proxy of `startProxy`. */
  readonly through?: FaultyProxy;
  readonly appendDeadlineMs?: number;
  readonly onInterruption?: (error: unknown) => void;
}

/** A real server of one kind, and adapters to it. */
export interface EventLogFixture {
  /** What the server says when it drops a subscription that is too slow; null if it never does. */
  readonly slowConsumerMessage: RegExp | null;
  /** A position near the end of the log, from where `currentEnd` looks for it; so a log that grows does not slow the suite down. */
  knownEnd: Position | null;
  /** A new adapter; the fixture closes it at the end. */
  open(options?: OpenOptions): EventLog;
  /** A new proxy in front of the server; the fixture closes it at the end. */
  startProxy(): Promise<FaultyProxy>;
  /** Kills the server and starts it again on the same data; resolves when it answers. */
  restartServer(): Promise<void>;
  close(): Promise<void>;
}
