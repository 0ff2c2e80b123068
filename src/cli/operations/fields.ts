import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { decodeUtf8, toBase64 } from '../../../schemas/crypto/encoding.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { parameterSchemas } from '../../api/openapi/json-schemas.js';
import { CommandError, EXIT, several, uuid, wholeNumber } from '../command/command.js';

/** A path parameter, a query parameter or a member of a body, on the command line. */
export interface Field {
  /** Name in the API, e.g. `retention_days`. */
  readonly name: string;
  /** Name on the command line, e.g. `retention-days`. An id is named after its object. */
  readonly word: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly kind: 'text' | 'number' | 'flag' | 'list' | 'json';
  /** The values that a text may have. If absent, it may have any. */
  readonly choices?: readonly string[] | undefined;
  readonly isUuid: boolean;
}

const Shape = z.object({
  type: z.union([z.string().transform((type) => [type]), z.array(z.string())]).default([]),
  enum: z.array(z.union([z.string(), z.null()])).optional(),
  format: z.string().optional(),
  description: z.string().default('JSON'),
  items: z.object({ type: z.string().optional() }).optional(),
});

/** The fields of a schema of parameters or of a body. */
export function fieldsOf(schema: z.ZodType): readonly Field[] {
  const { properties, required } = parameterSchemas(schema);
  return Object.entries(properties).map(([name, property]) => {
    const shape = Shape.parse(property);
    return {
      name,
      word: name.replace(/_id$|(?<=category)_key$/, '').replaceAll('_', '-'),
      description: shape.description,
      isRequired: required.includes(name),
      isNullable: shape.type.includes('null'),
      kind: kindOf(shape),
      choices: shape.enum?.filter((value) => value !== null),
      isUuid: shape.format === 'uuid',
    };
  });
}

function kindOf({ type, items }: z.output<typeof Shape>): Field['kind'] {
  if (type.includes('string')) return 'text';
  if (type.includes('integer') || type.includes('number')) return 'number';
  if (type.includes('boolean')) return 'flag';
  return type.includes('array') && items?.type !== 'object' ? 'list' : 'json';
}

/** Returns the options of a field. `--no-…` turns a flag off, empties a list, or sets a nullable field to null. */
export function optionsOf(field: Field): readonly Option[] {
  const { word, description, kind, choices, isNullable } = field;
  const text = kind === 'list' ? `${description} May be repeated.` : description;
  const option = new Option(kind === 'flag' ? `--${word}` : `--${word} <${field.isUuid ? 'id' : kind}>`, text);
  if (kind === 'list') option.argParser(several);
  else if (kind === 'number') option.argParser(wholeNumber(0));
  else if (choices !== undefined) option.choices(choices);
  else if (field.isUuid) option.argParser(uuid);
  if (kind !== 'flag' && kind !== 'list' && !isNullable) return [option];
  return [option, new Option(`--no-${word}`, kind === 'list' ? 'None.' : kind === 'flag' ? 'The opposite.' : 'Null.')];
}

/** The value of a field for the API, from that of its option, or undefined if the option was not given. */
export async function inputOf(field: Field, given: unknown): Promise<JsonValue | undefined> {
  if (given === false && field.kind !== 'flag') return field.kind === 'list' ? [] : null;
  if (typeof given === 'boolean' || typeof given === 'number') return given;
  if (typeof given === 'string') return field.kind === 'json' ? jsonOf(field.word, given) : textOf(given);
  return given === undefined ? undefined : Promise.all(z.array(z.string()).parse(given).map(textOf));
}

/**
 * Parses the JSON of an option.
 * @throws CommandError
 */
export async function jsonOf(word: string, given: string): Promise<JsonValue> {
  const text = await textOf(given);
  try {
    return z.json().parse(JSON.parse(text));
  } catch {
    throw new CommandError(`--${word} must be JSON, or @ and the name of a file with JSON.`, EXIT.usage);
  }
}

/** Returns the text itself, or the content of a file if it starts with `@`. @throws CommandError; file-system errors */
async function textOf(given: string): Promise<string> {
  const [, encoding, file] = /^(base64:)?@(.+)$/s.exec(given) ?? [];
  if (file === undefined) return given;
  const bytes = await readFile(file);
  if (encoding !== undefined) return toBase64(bytes);
  const text = decodeUtf8(bytes);
  if (text === null) throw new CommandError(`${file} is not valid UTF-8. Give a binary file as base64:@${file}.`);
  return text;
}

/** Parses an argument. @throws InvalidArgumentError */
export function argumentOf({ isUuid, kind }: Field, text: string): string {
  if (isUuid) return uuid(text);
  if (kind === 'number' && !/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return text;
}
