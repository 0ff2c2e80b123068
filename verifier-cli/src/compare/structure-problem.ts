import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { type BatchHeader, POLICY_KEY, type RunPlace } from '../../../schemas/evidence/batch-header.js';
import { firstCovered, levelOf } from '../../../schemas/evidence/roll-ups.js';
import { isShownAbsent, type LeavesOf } from './leaves-problem.js';
import type { PlacedRun } from './runs-problem.js';

/**
 * Describes how a leaf of a tree contradicts leaves of the ledger tree that lack its key, or null if it does not.
 * @param second shows one leaf: a run of a batch or roll-up, or a tag of a roll-up
 * @param first the run of the stream before them, or null if there is none
 * @param absent consecutive leaves by number, up to `second`
 */
export function absenceProblem(
  second: LeavesOf,
  first: (PlacedRun & { readonly key: Uint8Array }) | null,
  absent: readonly LeavesOf[],
): string | null {
  const [leaf, ...more] = second.leaves;
  const { number, level } = second.header;
  if (leaf === undefined || more.length > 0) return null;
  if (first !== null && (second.tree !== 'streams' || !equalBytes(first.key, leaf.key) || first.number >= number))
    return null;
  const start = level === 0 ? 0 : firstCovered(number);
  if (!areAllBetween(first === null ? start : first.number + 1, number, absent)) return null;
  if (absent.some((one) => one.tree !== second.tree || !isShownAbsent(one, leaf.key))) return null;
  const name = `${second.tree === 'tags' ? 'the tag' : 'the stream with the key'} ${toHex(leaf.key)}`;
  if (level > 0 && first === null) return `sealed roll-up ${number} with ${name}, which no leaf that it covers has`;
  if (leaf.run === undefined) return null;
  const before = first === null ? 0 : first.last + 1;
  const states = level === 0 ? leaf.run.first : leaf.run.last + 1;
  if (states === before) return null;
  return level === 0
    ? `sealed ${before} events of ${name} before batch ${number}, which states revision ${states} as the next one`
    : `sealed ${before} events of ${name} up to leaf ${number}, whose roll-up states ${states}`;
}

/** Whether leaves are all those from `start` to before `end`. A roll-up stands for those that it covers; it has no events of its own. */
function areAllBetween(start: number, end: number, leaves: readonly LeavesOf[]): boolean {
  let next = start;
  for (const { header } of leaves) {
    while (next < header.number && next !== firstCovered(header.number) && levelOf(next) > 0) next += 1;
    if (next !== firstCovered(header.number)) return false;
    next = header.number + 1;
  }
  while (next < end && levelOf(next) > 0) next += 1;
  return next === end;
}

/**
 * Describes how a header miscounts its policies, or null if it does not.
 * @param before header of the previous leaf, or null if the leaf is number 0
 * @param leaf shows the run of the stream `policy`, or that there is none
 */
export function policiesProblem(before: BatchHeader | null, { header, tree, leaves }: LeavesOf): string | null {
  if (tree !== 'streams' || header.number !== (before === null ? 0 : before.number + 1)) return null;
  const key = fromHex(POLICY_KEY) ?? new Uint8Array();
  const run = leaves.find((leaf) => equalBytes(leaf.key, key))?.run;
  const isRollUp = header.level > 0;
  if (run === undefined && !isRollUp && !isShownAbsent({ header, tree, leaves }, key)) return null;
  const own = run === undefined || isRollUp ? 0 : run.last - run.first + 1;
  const counted = (before?.policies ?? 0) + own;
  if (counted === header.policies) return null;
  return `counts ${header.policies} policies in leaf ${header.number}, and sealed ${counted} up to it`;
}

/** A run with its place under `streams_root`. */
export interface IndexedRun extends RunPlace {
  readonly index: number;
}

/** Describes how two runs of one leaf, which may be the same run, cannot tile it, or null if they can. */
export function tilingProblem({ number, count, streams_count: runs }: BatchHeader, one: IndexedRun, other: IndexedRun) {
  const [low, high] = one.index <= other.index ? [one, other] : [other, one];
  const endOf = ({ start, first, last }: RunPlace): number => start + last - first + 1;
  const isEmpty = low.first > low.last || high.first > high.last;
  const isLate = low.index === 0 && low.start !== 0;
  const isTorn = high.index === low.index + 1 && high.start !== endOf(low);
  const isOpen = high.index === runs - 1 && endOf(high) !== count;
  return isEmpty || isLate || isTorn || isOpen
    ? `states runs in leaf ${number} that do not tile its ${count} entries`
    : null;
}
