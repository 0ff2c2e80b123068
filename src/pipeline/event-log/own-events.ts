import type { LoggedEvent, LogPage, Position } from './port.js';

/** A page of events as the server has them, of any stream. */
type RawPage = Omit<LogPage, 'foreign'>;

/**
 * Separates the events of this service from those that another program wrote to streams of its own.
 * @param isOwnStream whether the service writes to a stream of this name
 */
export function ownEvents(page: RawPage, isOwnStream: (stream: string) => boolean): LogPage {
  const events: LoggedEvent[] = [];
  const foreign: LoggedEvent[] = [];
  for (const event of page.events) (isOwnStream(event.stream) ? events : foreign).push(event);
  return { ...page, events, foreign };
}

/** Counts foreign events once, however many readers of one process pass over them. */
export class ForeignCount {
  #newest: Position = '';

  constructor(private readonly onForeign: (event: LoggedEvent) => void) {}

  note(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (event.position <= this.#newest) continue;
      this.#newest = event.position;
      this.onForeign(event);
    }
  }
}
