import type * as z from 'zod';
import type { FieldError } from '../../../schemas/api/error-codes.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { fieldErrors, linesOf } from './field-errors.js';

/** Reasons for which a change of tenancy or accounts is refused. */
export type ChangeRefusalCode = 'not_found' | 'already_exists' | 'wrong_state' | 'invalid';

/**
 * A refused change of tenancy or accounts. `message` tells the client or the operator the problem
 * and the next step.
 */
export class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused';

  /** @param errors the invalid fields, for `invalid` */
  constructor(
    readonly code: ChangeRefusalCode,
    message: string,
    readonly errors?: readonly FieldError[],
  ) {
    super(message);
  }
}

/** @returns the refusal of a value with these invalid fields */
export function invalidChange(...errors: readonly FieldError[]): ChangeRefused {
  return new ChangeRefused('invalid', linesOf(errors), errors);
}

/**
 * @param value its members have names of the API or of the code: `mediaType` is `media_type` of the API
 * @param field the name of a value that is no object
 * @returns the value as the schema has it
 * @throws ChangeRefused `invalid`
 */
export function accepted<S extends z.ZodType>(schema: S, value: unknown, field?: string): z.output<S> {
  const parsed = schema.safeParse(value, { error: schemaWords });
  if (parsed.success) return parsed.data;
  throw invalidChange(...fieldErrors(parsed.error).map((one) => ({ ...one, field: field ?? snakeCase(one.field) })));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
