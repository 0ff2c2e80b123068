import type { Draft } from './export.js';
import { at, canonical, type JsonRecord } from './primitives.js';

/** Shows the entry of an event of the stream `policy` with another record. */
export function rewrite(draft: Draft, label: string, change: JsonRecord): void {
  const line = at(
    draft.entries.filter(({ leaf }) => leaf.event.label === label),
    0,
  );
  const { event, stream, revision } = line.leaf;
  const entry: unknown = JSON.parse(line.entry);
  const previous = typeof entry === 'object' && entry !== null && 'previous' in entry ? entry.previous : null;
  line.entry = canonical({
    v: 1,
    stream,
    revision,
    previous: typeof previous === 'string' ? previous : null,
    event_id: event.record.event_id ?? null,
    type: event.type,
    record: { ...event.record, ...change },
    proof_hash: null,
    person_tag: null,
  });
}
