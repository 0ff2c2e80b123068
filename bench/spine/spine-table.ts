import { median } from '../report.js';

/** A figure that must reach a goal. */
export interface Goal {
  readonly limit: number;
  readonly is: 'at most' | 'at least';
}

/** One line of a table: the values of the rounds of both versions. */
export interface Line {
  readonly what: string;
  /** Values of one round or of several; none: not measured for this version. */
  readonly before: readonly number[];
  readonly now: readonly number[];
  readonly digits: number;
  readonly goal?: Goal;
}

const WHAT_WIDTH = 46;
const VALUE_WIDTH = 24;

/** Prints a table of both versions: median of the rounds, with the least and the most of several. */
export function printTable(title: string, names: readonly [before: string, now: string], lines: readonly Line[]): void {
  const row = (what: string, before: string, now: string, goal: string): void =>
    console.log(
      `${what.padEnd(WHAT_WIDTH)}${before.padStart(VALUE_WIDTH)}${now.padStart(VALUE_WIDTH)}  ${goal}`.trimEnd(),
    );
  row(title, ...names, 'goal');
  for (const { what, before, now, digits, goal } of lines) {
    row(`  ${what}`, figureOf(before, digits), figureOf(now, digits), goal === undefined ? '' : verdictOf(goal, now));
  }
}

/** Returns the values of one version against those of the other one, round by round. */
export function ratios(now: readonly number[], before: readonly number[]): number[] {
  return now.map((value, round) => value / (before[round] ?? Number.NaN));
}

function figureOf(values: readonly number[], digits: number): string {
  if (values.length === 0) return '';
  const text = (value: number): string => value.toFixed(digits);
  const range = ` (${text(Math.min(...values))} to ${text(Math.max(...values))})`;
  return `${text(median(values))}${values.length === 1 ? '' : range}`;
}

function verdictOf({ limit, is }: Goal, values: readonly number[]): string {
  const value = median(values);
  const isMet = is === 'at most' ? value <= limit : value >= limit;
  return `${is} ${limit}, ${isMet ? 'met' : 'missed'}`;
}
