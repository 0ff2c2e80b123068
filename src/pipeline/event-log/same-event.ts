import { LogDiverged } from './errors.js';
import type { NewEvent, StreamEvent } from './port.js';

/**
 * Verifies that the event in the log equals the wanted event byte for byte.
 * @throws LogDiverged with the name of the differing part, never a body, because bodies may contain
 *   personal data
 */
export function assertSameEvent(wanted: NewEvent, found: StreamEvent): void {
  const reason = difference(wanted, found);
  if (reason !== null) throw new LogDiverged(found.stream, found.revision, reason);
}

function difference(wanted: NewEvent, found: NewEvent): string | null {
  if (wanted.id !== found.id) return `event ${found.id} stands where ${wanted.id} belongs`;
  if (wanted.type !== found.type) return `event ${wanted.id} has type ${found.type} instead of ${wanted.type}`;
  if (Buffer.compare(wanted.data, found.data) !== 0) return `the body of event ${wanted.id} has other bytes`;
  if (Buffer.compare(wanted.metadata, found.metadata) !== 0)
    return `the metadata of event ${wanted.id} has other bytes`;
  return null;
}
