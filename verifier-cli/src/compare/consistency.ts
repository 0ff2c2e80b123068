import * as z from 'zod';
import { ConsistencyResponse } from '../../../schemas/api/checkpoints.js';
import { decodeUtf8, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import { verifyConsistency } from '../../../schemas/merkle/verify-consistency.js';
import { parseShape } from '../files/parse.js';
import type { NotedCheckpoint } from './history.js';

/**
 * Parses the proofs of a file: the response of `/checkpoints/<size>/consistency/<from>`, or lines as in
 * `consistency.ndjson`. @returns null for any other content
 */
export function parseConsistencyFile(bytes: Uint8Array): readonly ConsistencyLine[] | null {
  const answer = parseShape(ConsistencyResponse, bytes);
  if (answer.ok) {
    const { from, size, hashes } = answer.value.data;
    return [{ from, to: size, path: hashes.map((hash) => fromHex(hash) ?? new Uint8Array()) }];
  }
  const lines = (decodeUtf8(bytes) ?? '').split('\n').filter((line) => line.trim() !== '');
  const parsed = lines.map((line) => parseShape(z.strictObject(ConsistencyLine.shape), line));
  const proofs = parsed.flatMap((line) => (line.ok ? [line.value] : []));
  return proofs.length === 0 || proofs.length < lines.length ? null : proofs;
}

/**
 * Returns whether proofs lead from one checkpoint to a larger one, possibly through other known checkpoints (RFC 9162
 * §2.1.4.2).
 * @param known checkpoints of both sides; there may be several of one size, with different roots
 */
export function isProvedExtension(
  older: NotedCheckpoint,
  newer: NotedCheckpoint,
  known: readonly NotedCheckpoint[],
  proofs: readonly ConsistencyLine[],
): boolean {
  const reached = new Map([[nameOf(older), older]]);
  const bySize = new Map<number, NotedCheckpoint[]>();
  for (const checkpoint of known) {
    const group = bySize.get(checkpoint.size) ?? [];
    if (!group.some((other) => nameOf(other) === nameOf(checkpoint))) group.push(checkpoint);
    bySize.set(checkpoint.size, group);
  }
  // Proofs lead from smaller to larger sizes, so one pass in the order of their starting sizes reaches everything.
  for (const { from, to, path } of proofs.toSorted((a, b) => a.from - b.from)) {
    for (const start of bySize.get(from) ?? []) {
      if (!reached.has(nameOf(start))) continue;
      for (const end of bySize.get(to) ?? []) {
        if (verifyConsistency(from, to, start.root, end.root, path).ok) reached.set(nameOf(end), end);
      }
    }
  }
  return reached.has(nameOf(newer));
}

function nameOf({ size, root }: NotedCheckpoint): string {
  return `${size} ${toHex(root)}`;
}
