import { fromHex } from '../../../schemas/crypto/encoding.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { streamKeysOf } from '../../../schemas/evidence/batch-header.js';
import { isReceipt, isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import type { PlacedRun } from './runs-problem.js';

/**
 * Returns the last revision up to which a manifest states that a stream is complete as of its checkpoint; −1 if it
 * states that the ledger has none, or null if it says nothing about the end of the stream.
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

/**
 * Describes how a run contradicts a manifest that states its stream as complete, or null if it does not.
 * @param run a run with the key of its stream, in hex
 */
export function claimsProblem(manifest: Manifest, run: PlacedRun & { readonly key: string }): string | null {
  const { checkpoint, filter, salt } = manifest;
  const keyOf = streamKeysOf(fromHex(salt ?? '') ?? new Uint8Array());
  const streams = [POLICY_STREAM, noticesStream(filter.site_id), consentsStream(filter.site_id)];
  const stream = streams.find((known) => keyOf(known) === run.key);
  const end = stream === undefined ? null : claimedEnd(manifest, stream);
  if (end === null || checkpoint === null || run.number >= checkpoint || run.last <= end) return null;
  const claimed = end < 0 ? 'no event' : `the events up to revision ${end}`;
  return `states ${claimed} as the whole of ${stream} as of ${checkpoint} leaves, and sealed revision ${run.last} in leaf ${run.number}`;
}

/**
 * Describes how two manifests state different salts for one site, or null if they do not. With two salts, a ledger
 * could keep two streams of a site and show each person whichever suits it.
 */
export function saltsProblem(one: Manifest, other: Manifest): string | null {
  const site = one.filter.site_id;
  const isSame = site !== other.filter.site_id || one.salt === null || other.salt === null || one.salt === other.salt;
  return isSame ? null : `states two salts for the site ${site}, so that it has two sets of streams`;
}
