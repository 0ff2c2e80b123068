import { expect } from 'vitest';
import * as z from 'zod';
import type { Answer } from './http.js';

/** ISO 8601 with an offset. */
export const Timestamp = z.iso.datetime({ offset: true });
export const ProofHash = z.string().regex(/^[0-9a-f]{64}$/);
export const ConsentToken = z.string().startsWith('ct_');

const acceptance = {
  consent_token: ConsentToken,
  proof_hash: ProofHash,
  created_at: Timestamp,
  duplicate: z.boolean(),
};
const Accepted = z.object({ message: z.string().min(1), data: z.object(acceptance) });
export type Acceptance = z.infer<typeof Accepted>['data'];

/** Expects an accepted request. @returns the consent acceptance result of the 202 */
export function accepted(answer: Answer): Acceptance {
  expect(answer.status, answer.text).toBe(202);
  return Accepted.parse(answer.json).data;
}

const Batch = z.object({
  data: z.object({
    accepted: z.int(),
    rejected: z.int(),
    results: z.array(
      z.discriminatedUnion('status', [
        z.object({ index: z.int(), status: z.literal('accepted'), ...acceptance }),
        z.object({
          index: z.int(),
          status: z.literal('rejected'),
          error: z.string().min(1),
          error_code: z.string().min(1),
          code: z.int(),
        }),
      ]),
    ),
  }),
});
export type BatchResult = z.infer<typeof Batch>['data'];

/** Expects a processed batch. @returns the batch result of the 202 */
export function batchResult(answer: Answer): BatchResult {
  expect(answer.status, answer.text).toBe(202);
  return Batch.parse(answer.json).data;
}

/** The entry of a batch result that must be an accepted one. */
export function acceptedItem(result: BatchResult, index: number): Acceptance {
  const item = result.results[index];
  if (item?.status !== 'accepted') throw new Error(`item ${index} was not accepted: ${JSON.stringify(item)}`);
  return item;
}

const Minted = z.object({
  data: z.object({
    approval_token: z.string().startsWith('hat_'),
    approval_token_id: z.string().startsWith('atk_'),
    expires_in: z.int(),
    expires_at: Timestamp,
    document_id: z.string().min(1),
    document_slug: z.string().min(1),
    document_version_id: z.string().nullable(),
  }),
});
export type MintedToken = z.infer<typeof Minted>['data'];

/** Expects a minted approval token. @returns the content of the 201 */
export function minted(answer: Answer): MintedToken {
  expect(answer.status, answer.text).toBe(201);
  return Minted.parse(answer.json).data;
}

const ErrorBody = z.object({
  code: z.string().min(1),
  error_code: z.string().min(1),
  error: z.object({ code: z.string().min(1) }),
  errors: z.unknown().optional(),
});

/** The three places of an error's code hold the same one. @returns it, with the field errors */
export function errorOf(answer: Answer): { readonly code: string; readonly errors: unknown } {
  const body = ErrorBody.parse(answer.json, { error: () => `not the shape of an error: ${answer.text.slice(0, 200)}` });
  expect(body.error_code).toBe(body.code);
  expect(body.error.code).toBe(body.code);
  return { code: body.code, errors: body.errors };
}

/** The answer is this error, with the code in `code`, `error_code` and `error.code`. */
export function expectError(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: errorOf(answer).code }, answer.text).toEqual({ status, code });
}

/** The answer is a VALIDATION_ERROR whose `errors` name the field. */
export function expectFieldError(answer: Answer, field: string): void {
  expectError(answer, 422, 'VALIDATION_ERROR');
  const { errors } = errorOf(answer);
  expect(errors, 'errors').toBeTruthy();
  expect(JSON.stringify(errors)).toContain(field);
}

/** Retry-After is a whole number of seconds. @returns it */
export function retryAfter(answer: Answer): number {
  expect(answer.headers['retry-after'], 'Retry-After').toMatch(/^[1-9]\d*$/);
  return Number(answer.headers['retry-after']);
}

/** A member of a JSON answer. @returns undefined where there is none */
export function at(json: unknown, ...path: readonly (string | number)[]): unknown {
  let value: unknown = json;
  for (const step of path) {
    if (value === null || typeof value !== 'object') return undefined;
    value = Object.entries(value).find(([name]) => name === String(step))?.[1];
  }
  return value;
}
