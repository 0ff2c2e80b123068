import { assertAppendable } from './new-events.js';
import type { AppendOutcome, StreamAppend } from './port.js';

export function appended(lastRevision: number): AppendOutcome {
  return { status: 'fulfilled', value: { lastRevision } };
}

export function rejected(reason: unknown): AppendOutcome {
  return { status: 'rejected', reason };
}

/** Returns the refusal of an append that no adapter sends to its server; null: there is none. */
export function refusalOf({ stream, expectedRevision, events }: StreamAppend): AppendOutcome | null {
  try {
    assertAppendable(stream, expectedRevision, events);
    return null;
  } catch (error) {
    return rejected(error);
  }
}
