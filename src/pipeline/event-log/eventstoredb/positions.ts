import { z } from 'zod';
import type { Position } from '../port.js';

const POSITION = /^(\d{20})\/(\d{20})$/;
const pair = z.object({ commit: z.bigint().nonnegative(), prepare: z.bigint().nonnegative() });

/** A position of `$all`, written so that positions compare as strings. */
export function formatPosition(position: unknown): Position {
  const { commit, prepare } = pair.parse(position);
  return `${commit.toString().padStart(20, '0')}/${prepare.toString().padStart(20, '0')}`;
}

/**
 * The client's form of a position.
 * @throws TypeError for a position of another adapter, or none at all
 */
export function parsePosition(position: Position): { commit: bigint; prepare: bigint } {
  const [, commit, prepare] = POSITION.exec(position) ?? [];
  if (commit === undefined || prepare === undefined) {
    throw new TypeError(`not a position of this log: ${JSON.stringify(position)}`);
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}
