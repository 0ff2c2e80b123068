import type * as z from 'zod';
import { ERROR_CODES, type ErrorCode, type FieldError } from '../../schemas/api/error-codes.js';
import { schemaWords } from '../../schemas/json/schema-words.js';

/** Returns the message of something thrown, without the name of its class. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const MAX_FIELD_ERRORS = 50;
const MAX_NAME_LENGTH = 100;

/** Converts the problems of a value to invalid fields, at most 50. */
export function fieldErrors({ issues }: z.ZodError): readonly FieldError[] {
  return issues.flatMap(errorsOfIssue).slice(0, MAX_FIELD_ERRORS);
}

/** Formats invalid fields as readable lines. */
export function linesOf(errors: readonly FieldError[]): string {
  return errors.map(({ field, message }) => `${field}: ${message}`).join('\n');
}

/** Formats the path of a member as `field` of an error. Names are truncated, because the client chose them. */
export function fieldOf(path: readonly PropertyKey[]): string {
  return path.map((name) => String(name).slice(0, MAX_NAME_LENGTH)).join('.');
}

/** Each unknown member gets one entry. */
function errorsOfIssue(issue: z.core.$ZodIssue): readonly FieldError[] {
  if (issue.code !== 'unrecognized_keys') return [{ field: fieldOf(issue.path), message: issue.message }];
  return issue.keys.map((key) => ({ field: fieldOf([...issue.path, key]), message: 'is not known here' }));
}

export interface RefusalDetails {
  /** The invalid fields, for `VALIDATION_ERROR`. */
  readonly errors?: readonly FieldError[];
  /** The challenge of a proof of work, for `PROOF_OF_WORK_REQUIRED`. */
  readonly challenge?: string;
  /** Time after which a retry may succeed, in seconds. */
  readonly retryAfterSeconds?: number;
}

/**
 * The domain refuses a client's request, or cannot serve it now. The error has a code of the table of error codes and
 * is independent of HTTP: `api/` translates it into a response.
 */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';

  /**
   * @param message the problem and the next step; by default the meaning of the code
   * @param details invalid fields, a challenge, seconds to wait
   */
  constructor(
    readonly code: ErrorCode,
    message: string = ERROR_CODES[code].meaning,
    readonly details: RefusalDetails = {},
  ) {
    super(message);
  }
}

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
 * @param value an object whose members have names of the API or of the code: `mediaType` is `media_type` of the API
 * @param field the name of a value that is not an object
 * @returns the value as the schema has parsed it
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

const RETRY_AFTER_SECONDS = 2;

export interface Unavailability {
  /** States the missing component and the next step; by default the meaning of the code. */
  readonly message?: string;
  /** Time after which a retry may succeed, in seconds. */
  readonly retryAfterSeconds?: number;
  /** The failure that caused it, for the log. */
  readonly cause?: unknown;
}

/** Returns the refusal of a request that the service cannot answer now: SERVICE_UNAVAILABLE. */
export function serviceUnavailable(why: Unavailability = {}): RequestRefused {
  const { message, retryAfterSeconds = RETRY_AFTER_SECONDS, cause } = why;
  return Object.assign(new RequestRefused('SERVICE_UNAVAILABLE', message, { retryAfterSeconds }), { cause });
}
