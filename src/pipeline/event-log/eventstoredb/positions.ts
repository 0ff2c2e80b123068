import * as z from 'zod';
import type { Position } from '../port.js';

const POSITION = /^(\d{20})\/(\d{20})$/;
const pair = z.object({ commit: z.bigint().nonnegative(), prepare: z.bigint().nonnegative() });

/** Formats a position of `$all` so that positions compare as strings. */
export function formatPosition(position: unknown): Position {
  const { commit, prepare } = pair.parse(position);
  return `${commit.toString().padStart(20, '0')}/${prepare.toString().padStart(20, '0')}`;
}

/**
 * Parses a position to the form of the client.
 * @throws TypeError for a position of another adapter, or an invalid one
 */
export function parsePosition(position: Position): { commit: bigint; prepare: bigint } {
  const [, commit, prepare] = POSITION.exec(position) ?? [];
  if (commit === undefined || prepare === undefined) {
    throw new TypeError(`not a position of this log: ${JSON.stringify(position)}`);
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}
