/**
 * Faults of one write between a process and the component that makes it durable: a database, an
 * event log, an authority.
 */
export const FAULTS = {
  'stopped-before': 'The process stops before the write arrives',
  'stopped-after': 'The process stops after the write is durable',
  'answer-lost': 'The write is durable, its answer is lost',
  'failed-after': 'The write is durable, the answer is an error',
} as const;

export type Fault = keyof typeof FAULTS;

export const ALL_FAULTS: readonly Fault[] = ['stopped-before', 'stopped-after', 'answer-lost', 'failed-after'];

/** Whether the process is gone afterwards, so that a test has to start another. */
export function stopsProcess(fault: Fault): boolean {
  return fault === 'stopped-before' || fault === 'stopped-after';
}
