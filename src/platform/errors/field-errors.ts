import type * as z from 'zod';
import type { FieldError } from '../../../schemas/api/error-codes.js';

const MAX_FIELD_ERRORS = 50;
const MAX_NAME_LENGTH = 100;

/** The problems of a value as invalid fields, 50 at most. */
export function fieldErrors({ issues }: z.ZodError): readonly FieldError[] {
  return issues.flatMap(errorsOfIssue).slice(0, MAX_FIELD_ERRORS);
}

/** The problems as lines for people who read no JSON. */
export function linesOf(errors: readonly FieldError[]): string {
  return errors.map(({ field, message }) => `${field}: ${message}`).join('\n');
}

/** The path of a member as `field` of an error. Names are truncated, because the client chose them. */
export function fieldOf(path: readonly PropertyKey[]): string {
  return path.map((name) => String(name).slice(0, MAX_NAME_LENGTH)).join('.');
}

/** Each unknown member gets one entry. */
function errorsOfIssue(issue: z.core.$ZodIssue): readonly FieldError[] {
  if (issue.code !== 'unrecognized_keys') return [{ field: fieldOf(issue.path), message: issue.message }];
  return issue.keys.map((key) => ({ field: fieldOf([...issue.path, key]), message: 'is not known here' }));
}
