import type { Logger } from 'pino';

/** Where background parts write what operators must know. Fields and messages never hold personal data. */
export type ServiceLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** A long-running part of the service. */
export interface BackgroundPart {
  readonly name: string;

  /**
   * Works until `signal` is aborted, and resolves when the step in hand is finished: no step is left half done. Failures that may pass are
   * retried with back-off. Throws only what an operator must resolve (the error says how).
   */
  run(signal: AbortSignal): Promise<void>;

  /** Counts and states for health checks and metrics, by name. */
  status(): PartStatus;
}

export type PartStatus = Readonly<Record<string, number | string | boolean | null>>;

/** A failure that no retry mends: the part stops, and an operator has to act. */
export class OperatorNeeded extends Error {
  override readonly name: string = 'OperatorNeeded';
}
