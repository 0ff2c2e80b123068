import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ApiError, type FieldError } from '../../../schemas/api/error-codes.js';
import { PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { DiscloseConsentRequest } from '../../../schemas/api/panel/consents.js';
import { CreateExportRequest } from '../../../schemas/api/panel/exports.js';
import { validate } from '../../../src/api/server/json-body.js';

function errorsOf(schema: z.ZodType, value: unknown): readonly FieldError[] {
  try {
    validate(schema, value);
  } catch (error) {
    if (error instanceof ApiError) return error.details.errors ?? [];
    throw error;
  }
  return [];
}

describe('what is wrong with a request', () => {
  const Site = z.strictObject({ name: z.string(), owner: z.strictObject({ email: z.email() }) });

  it('names every member that nobody knows, wherever it stands', () => {
    const owner = { email: 'a@b.example', phone: '1' };
    expect(errorsOf(Site, { name: 'Shop', owner, foo: 1, bar: 2 })).toEqual([
      { field: 'owner.phone', message: 'is not known here' },
      { field: 'foo', message: 'is not known here' },
      { field: 'bar', message: 'is not known here' },
    ]);
  });

  it('says that a field is missing, of whatever type it is', () => {
    const Order = z.strictObject({
      id: z.string(),
      kind: z.enum(['a', 'b']),
      sum: z.union([z.int(), z.string()]),
      owner: z.strictObject({ email: z.email() }),
      note: z.string({ error: 'must be a note' }),
    });
    expect(errorsOf(Order, { owner: {} })).toEqual([
      { field: 'id', message: 'is missing' },
      { field: 'kind', message: 'is missing' },
      { field: 'sum', message: 'is missing' },
      { field: 'owner.email', message: 'is missing' },
      { field: 'note', message: 'must be a note' },
    ]);
  });

  it('repeats neither long names nor more than 50 of them', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`${index}`.padEnd(5_000, 'x'), 1]));
    const errors = errorsOf(z.strictObject({}), many);
    expect(errors).toHaveLength(50);
    expect(Math.max(...errors.map(({ field }) => field.length))).toBe(100);
  });

  it('says which fields can be disclosed', () => {
    const isList = (others: string) => ({
      message: `must be ${others}, or a list with some of: ${PERSONAL_FIELDS.join(', ')}`,
    });
    for (const wrong of [['nope'], 'some', 7]) {
      expect(errorsOf(DiscloseConsentRequest, { fields: wrong, reason: 'a request' })).toEqual([
        { field: 'fields', ...isList('"all"') },
      ]);
      expect(errorsOf(CreateExportRequest, { disclose: wrong })).toEqual([
        { field: 'disclose', ...isList('"all", "none"') },
      ]);
    }
    expect(errorsOf(DiscloseConsentRequest, { fields: ['signer_name'], reason: 'a request' })).toEqual([]);
    expect(errorsOf(CreateExportRequest, { disclose: ['signer_name'] })).toEqual([]);
  });
});
