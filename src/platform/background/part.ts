import type { Logger } from 'pino';
import type { ReadinessReason } from '../health/reasons.js';

/** Logger of the background parts. Fields and messages never contain personal data. */
export type ServiceLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** A long-running part of the service. */
export interface BackgroundPart {
  readonly name: string;

  /**
   * Works until `signal` is aborted, and resolves after the current step, so no step remains half
   * done. Transient failures are retried with back-off.
   * @throws OperatorNeeded for a failure that an operator must resolve; the message says how
   */
  run(signal: AbortSignal): Promise<void>;

  /** Returns counts and states by name, for health checks and metrics. */
  status(): PartStatus;

  /** Returns why the part does not do its work, for `/readyz`; absent: only its process can say. */
  reasons?(): readonly ReadinessReason[];
}

export type PartStatus = Readonly<Record<string, number | string | boolean | null>>;

/** A failure that no retry resolves: the part stops, and an operator must act. */
export class OperatorNeeded extends Error {
  override readonly name: string = 'OperatorNeeded';
}
