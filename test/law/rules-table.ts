import { readFileSync } from 'node:fs';
import * as z from 'zod';

const RULES = ['opt_in', 'opt_out', 'exempt'] as const;
const ACTS = [
  'none',
  'consent',
  'rejected',
  'withdrawn',
  'do_not_sell_opt_out',
  'do_not_sell_opt_out_ended',
  'objection',
  'objection_ended',
] as const;

const Name = z.string().regex(/^[a-z_]+$/);
const Names = z.array(Name).min(1);
const Sentence = z.string().min(15);
const Rule = z.enum(RULES);
const Day = z.iso.date();

const Publication = z.strictObject({
  rule: Rule,
  places: Names,
  kinds: Names,
  allowed: z.boolean(),
  because: Sentence,
});

const CellRow = z.strictObject({
  rule: Rule,
  places: Names,
  kinds: Names,
  events: Names,
  permitted: z.boolean(),
  asked: z.boolean(),
  recorded: z.enum(ACTS),
  uncertain: z.boolean(),
  because: Sentence,
});

const State = z.strictObject({
  code: z.string().regex(/^[A-Z]{2}$/),
  name: z.string().min(4),
  law: Sentence,
  inForceSince: Day,
  /** Since when a signal must be heeded; null: there is no such duty. */
  signalSince: Day.nullable(),
  /** The section of IAB's Global Privacy Platform, and whether it can state the signal. */
  gpp: z.strictObject({ section: Name, id: z.int(), statesSignal: z.boolean() }),
  /** Whether the text of the law was seen, or only what others say of it. */
  certainty: z.enum(['primary', 'secondary']),
  source: Sentence,
});

/** A table of right values by law. Its own members say what they mean (`about`, `fields`). */
const RulesTable = z.strictObject({
  about: z.array(Sentence),
  asOf: Day,
  rules: z.record(Rule, Sentence),
  places: z.record(Name, z.strictObject({ name: z.string().min(4), members: z.string() })),
  kinds: z.record(Name, Sentence),
  acts: z.record(z.enum(ACTS), Sentence),
  fields: z.record(Name, Sentence),
  events: z.record(Name, Sentence),
  states: z.array(State),
  publication: z.array(Publication),
  cells: z.array(CellRow),
});
export type RulesTable = z.infer<typeof RulesTable>;
export type Rule = z.infer<typeof Rule>;
type Cell = RulesTable['cells'][number];

/** What a cell is looked up by. */
export interface Key {
  readonly place: string;
  readonly rule: Rule;
  readonly kind: string;
  readonly event: string;
}

/** Reads a table. @param file its name in this folder @throws if it has another form */
export function readRulesTable(file: string): RulesTable {
  return RulesTable.parse(JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')));
}

/** Every combination of place, rule, kind and event that a table names. */
export function everyKey({ places, kinds, events }: RulesTable): readonly Key[] {
  return Object.keys(places).flatMap((place) =>
    RULES.flatMap((rule) =>
      Object.keys(kinds).flatMap((kind) => Object.keys(events).map((event) => ({ place, rule, kind, event }))),
    ),
  );
}

/** The rows that decide whether a rule may be published: one, in a complete table. */
export function publicationsOf(
  { publication }: RulesTable,
  { place, rule, kind }: Omit<Key, 'event'>,
): RulesTable['publication'] {
  return publication.filter((row) => row.rule === rule && row.places.includes(place) && row.kinds.includes(kind));
}

/**
 * The rule that is in force for a category where a configuration names `rule`. One that may not be published never is:
 * `opt_in` applies.
 */
function ruleInForce(table: RulesTable, key: Key): Rule {
  return publicationsOf(table, key).every(({ allowed }) => allowed) ? key.rule : 'opt_in';
}

/** The rows that state the right value of a combination: one, in a complete table. */
export function cellsOf(table: RulesTable, key: Key): readonly Cell[] {
  const rule = ruleInForce(table, key);
  return table.cells.filter(
    (row) =>
      row.rule === rule &&
      row.places.includes(key.place) &&
      row.kinds.includes(key.kind) &&
      row.events.includes(key.event),
  );
}

/** The right value of a combination. @throws if the table does not state exactly one */
export function cellOf(table: RulesTable, key: Key): Cell {
  const [cell, ...more] = cellsOf(table, key);
  if (cell === undefined || more.length > 0) throw new Error(`not exactly one row for ${JSON.stringify(key)}`);
  return cell;
}
