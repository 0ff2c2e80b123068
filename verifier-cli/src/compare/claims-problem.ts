import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { isReceipt, isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import type { PlacedRun } from './runs-problem.js';

/**
 * Returns the last revision up to which a manifest states that a stream is whole as of its checkpoint; −1
 * if it states that the ledger has none. Null if it makes no statement about the end of the stream.
 */
export function claimedEnd({ filter, complete, checkpoint, ...rest }: Manifest, stream: string): number | null {
  const { site_id: site } = filter;
  const whole = [POLICY_STREAM, noticesStream(site), ...(isUnfiltered(filter) ? [consentsStream(site)] : [])];
  if (checkpoint === null || isReceipt(rest) || !whole.includes(stream)) return null;
  const runs = complete.filter((run) => run.stream === stream).sort((a, b) => a.first - b.first);
  let end = -1;
  for (const { first, last } of runs) if (first <= end + 1) end = Math.max(end, last);
  return end;
}

/** Describes how a run contradicts a manifest that states a stream as whole; null if it does not. */
export function claimsProblem(manifest: Manifest, stream: string, run: PlacedRun): string | null {
  const end = claimedEnd(manifest, stream);
  const { checkpoint } = manifest;
  if (end === null || checkpoint === null || run.number >= checkpoint || run.last <= end) return null;
  const claimed = end < 0 ? 'no event' : `the events up to revision ${end}`;
  return `states ${claimed} as the whole of ${stream} as of ${checkpoint} leaves, and sealed revision ${run.last} in leaf ${run.number}`;
}
