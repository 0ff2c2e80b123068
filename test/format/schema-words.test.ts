import { expect, test } from 'vitest';
import * as z from 'zod';
import { schemaWords } from '../../schemas/json/schema-words.js';

test.each<[z.ZodType, unknown, string]>([
  [z.object({ a: z.string() }), {}, 'is missing'],
  [z.string(), 3, 'must be text, not a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.array(z.string()), {}, 'must be a list, not an object'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(20), 'x'.repeat(12), 'must have at least 20 characters; it has 12'],
  [z.string().max(1), 'xx', 'must have at most 1 character; it has 2'],
  [z.array(z.int()).max(2), [1, 2, 3], 'must have at most 2 items; it has 3'],
  [z.string().length(2), 'x', 'must have exactly 2 characters; it has 1'],
  [z.int().max(9), 10, 'must be at most 9'],
  [z.number().gt(0), 0, 'must be greater than 0'],
  [z.enum(['accepted', 'rejected']), 'yes', 'must be one of accepted, rejected'],
  [z.literal(1), 2, 'must be 1'],
  [z.email(), 'x', 'must be an e-mail address, for example anna@example.org'],
  [z.string().regex(/a/), 'b', 'has a form that is not permitted: see its description in the documentation'],
  [z.union([z.string(), z.int()]), null, 'has none of the permitted forms: see its description in the documentation'],
  [z.strictObject({}), { x: 1 }, 'has members that are not known: x'],
  [z.string().refine(() => false, 'must be right'), 'x', 'must be right'],
])('%#: a refusal has no words of the library', (schema, value, message) => {
  expect(schema.safeParse(value, { error: schemaWords }).error?.issues.map((issue) => issue.message)).toEqual([
    message,
  ]);
});
