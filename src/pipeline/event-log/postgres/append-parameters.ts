import { byteaArray, int4Array, int8Array, textArray, uuidArray } from '../../../platform/database/parameters.js';
import type { NewEvent, StreamAppend } from '../port.js';

interface PlacedEvent {
  readonly event: NewEvent;
  /** Place of its stream among the appends, from 1. */
  readonly owner: number;
  readonly revision: number;
}

/** Returns the parameters of the statement `APPEND`, in binary form. */
export function appendParameters(appends: readonly StreamAppend[]): Buffer[] {
  const placed: PlacedEvent[] = appends.flatMap(({ events, expectedRevision }, place) =>
    events.map((event, n) => ({ event, owner: place + 1, revision: expectedRevision + 1 + n })),
  );
  return [
    textArray(appends.map(({ stream }) => stream)),
    int8Array(appends.map(({ expectedRevision }) => expectedRevision)),
    int4Array(placed.map(({ owner }) => owner)),
    int8Array(placed.map(({ revision }) => revision)),
    uuidArray(placed.map(({ event }) => event.id)),
    textArray(placed.map(({ event }) => event.type)),
    byteaArray(placed.map(({ event }) => event.data)),
    byteaArray(placed.map(({ event }) => event.metadata)),
  ];
}
