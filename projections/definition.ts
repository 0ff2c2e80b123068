import * as z from 'zod';
import type { ConsentContent } from '../schemas/evidence/consent-body.js';

/** Column types of a read model. */
export const COLUMN_TYPES = [
  'uuid',
  'text',
  'bytea',
  'bigint',
  'integer',
  'boolean',
  'jsonb',
  'timestamptz',
  'date',
] as const;

const Name = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be lower-case letters, digits and _, at most 40');

const IndexDefinition = z
  .strictObject({
    columns: z.array(Name).min(1),
    unique: z.boolean(),
    /** Finds equal values only, and stores 4 bytes of each row whatever the width of the value. */
    method: z.literal('hash').optional(),
  })
  .refine(({ columns, unique, method }) => method === undefined || (columns.length === 1 && !unique), {
    path: ['method'],
    message: 'a hash index has one column and is not unique',
  });

/**
 * A table of a read model. Tables are created only from this definition, so two of them can be
 * compared.
 */
export const TableDefinition = z.strictObject({
  columns: z.record(Name, z.strictObject({ type: z.enum(COLUMN_TYPES), nullable: z.boolean() })),
  primaryKey: z.array(Name).min(1),
  /** Columns of additional indexes. */
  indexes: z.array(IndexDefinition),
});
export type TableDefinition = z.infer<typeof TableDefinition>;

/**
 * Values of a row by column. Times and dates are ISO 8601 text, bytes are `\x` and their hexadecimal
 * digits; an absent value is null.
 */
export type Row = Readonly<Record<string, RowValue>>;
export type RowValue = null | boolean | number | string | readonly RowValue[] | { readonly [member: string]: RowValue };

/**
 * A change of a read model. A change that meets an unexpected state is a failure of the projection.
 */
export type Mutation =
  /** A new row; its key must not exist. */
  | { readonly kind: 'insert'; readonly table: string; readonly row: Row }
  /** New values for the row with this primary key, which must exist. */
  | { readonly kind: 'update'; readonly table: string; readonly key: Row; readonly set: Row }
  /** New values for the row with this primary key, if it exists. */
  | { readonly kind: 'update-if-present'; readonly table: string; readonly key: Row; readonly set: Row }
  /** Adds numbers to the row with this primary key; a missing row counts as zeros. */
  | { readonly kind: 'add'; readonly table: string; readonly key: Row; readonly by: Readonly<Record<string, number>> };

/**
 * An event as projections receive it. It contains no personal data: the disclosures in the body are
 * encrypted.
 */
export interface ProjectionEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  /** The parsed body. */
  readonly body: unknown;
  /** The parsed public part that is hashed and sealed; null for events of `ledger`. */
  readonly record: unknown;
  /** Body and record of a consent, checked against their schemas; null for other types. */
  readonly consent: ConsentContent | null;
}

/**
 * A pure function: the same event gives the same changes. It must not read a clock, configuration
 * or any other data.
 */
export type Handler = (event: ProjectionEvent) => readonly Mutation[];

/**
 * A read model: its tables, and the changes of each event type. An event whose type is neither in
 * `on` nor in `ignores` stops the projection, so no event is skipped unless the definition says so.
 */
export interface Projection {
  readonly name: string;
  /** Increases whenever tables or handlers change; the read model is then rebuilt. */
  readonly version: number;
  readonly tables: Readonly<Record<string, TableDefinition>>;
  readonly on: Readonly<Record<string, Handler>>;
  /** Types that change nothing; `*`: every type without a handler. */
  readonly ignores: '*' | readonly string[];
}

const HandlerShape = z.custom<Handler>((value) => typeof value === 'function', 'must be a function');

/** Validates definitions from the files of a user. */
export const ProjectionShape = z
  .strictObject({
    name: Name,
    version: z.int().min(1),
    tables: z.record(Name, TableDefinition).refine((tables) => Object.keys(tables).length > 0, 'needs a table'),
    on: z.record(z.string(), HandlerShape),
    ignores: z.union([z.literal('*'), z.array(z.string())], "must be a list of event types, or '*'"),
  })
  .superRefine((definition, context) => {
    for (const [table, { columns, primaryKey, indexes }] of Object.entries(definition.tables)) {
      for (const column of [...primaryKey, ...indexes.flatMap((index) => index.columns)]) {
        if (columns[column] === undefined) context.addIssue(`table ${table} has no column ${column}`);
      }
      for (const column of primaryKey) {
        if (columns[column]?.nullable === true)
          context.addIssue(`key column ${column} of ${table} must not be nullable`);
      }
    }
  });
