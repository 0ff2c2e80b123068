import type * as z from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a date',
};
const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address, for example anna@example.org',
  url: 'must be a URL, for example https://example.org/path',
  uuid: 'must be a UUID',
  date: 'must be a date, for example 2026-01-31',
  base64: 'must be base64',
  base64url: 'must be base64url',
  ipv4: 'must be an IP address',
  ipv6: 'must be an IP address',
};
/** Longer lists are in the documentation of the field. */
const MAX_VALUES = 24;

/**
 * Says what a schema requires of a value that it refuses, in our words instead of a library's: a phrase that follows
 * the name of the field, such as “must have at most 100 characters; it has 312”. Passed to `safeParse` as `error`, it
 * applies where the schema itself states no message. The value is not repeated, because it may be personal.
 */
export function schemaWords(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'int' && typeof issue.input === 'number') return 'must be a whole number';
      return `must be ${KINDS[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case 'too_small':
    case 'too_big':
      return boundary(issue);
    case 'invalid_format':
      if (issue.format === 'starts_with') return `must begin with ${issue.prefix}`;
      return FORMATS[issue.format] ?? 'has a form that is not permitted: see its description in the documentation';
    case 'invalid_value':
      if (issue.values.length > MAX_VALUES) return 'is not one of the permitted values: see the documentation';
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has members that are not known: ${issue.keys.map((key) => key.slice(0, 100)).join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_key':
      return 'has a name that is not permitted';
    default:
      return 'has none of the permitted forms: see its description in the documentation';
  }
}

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'number' && Number.isNaN(input)) return 'a text without a number';
  return KINDS[typeof input] ?? typeof input;
}

function boundary(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall>): string {
  const isSmall = issue.code === 'too_small';
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const { input } = issue;
  const isText = typeof input === 'string';
  const unit = (count: number | bigint) => `${isText ? 'character' : 'item'}${Number(count) === 1 ? '' : 's'}`;
  if (isText || Array.isArray(input)) {
    if (isSmall && Number(limit) === 1) return 'must not be empty';
    const exactly = issue.exact === true ? 'exactly' : isSmall ? 'at least' : 'at most';
    return `must have ${exactly} ${limit} ${unit(limit)}; it has ${input.length}`;
  }
  if (issue.inclusive === false) return `must be ${isSmall ? 'greater' : 'less'} than ${limit}`;
  return `must be ${isSmall ? 'at least' : 'at most'} ${limit}`;
}
