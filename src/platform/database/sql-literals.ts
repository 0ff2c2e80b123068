import pg from 'pg';

/**
 * Returns a `bigint` literal, for a statement that takes no parameters.
 * @throws TypeError unless the value is a safe integer
 */
export function int8Literal(value: number): string {
  if (!Number.isSafeInteger(value)) throw new TypeError(`not an integer: ${value}`);
  return `'${value}'::bigint`;
}

/** @throws TypeError for U+0000, which PostgreSQL cannot store */
export function textLiteral(value: string): string {
  if (value.includes('\0')) throw new TypeError('a text with U+0000');
  return pg.escapeLiteral(value);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws TypeError unless the values are UUIDs with dashes, in lower case */
export function uuidArrayLiteral(values: readonly string[]): string {
  for (const value of values) if (!UUID.test(value)) throw new TypeError(`not a UUID: ${value}`);
  return `'{${values.join()}}'::uuid[]`;
}
