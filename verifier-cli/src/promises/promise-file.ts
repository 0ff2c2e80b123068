import { z } from 'zod';
import { SignedPromise } from '../../../schemas/evidence/promise.js';
import { type Parsed, parseShape } from '../files/parse.js';

/** The answer to one consent. Other members are of no interest here. */
const Answer = z.object({ data: z.object({ promise: SignedPromise }) });

/**
 * Reads a promise: the value of `promise`, or the whole answer to one consent.
 * @returns the reason why it is neither. Never throws: every input may be hostile.
 */
export function parsePromiseFile(bytes: Uint8Array): Parsed<SignedPromise> {
  const alone = parseShape(SignedPromise, bytes);
  if (alone.ok) return alone;
  const answer = parseShape(Answer, bytes);
  return answer.ok ? { ok: true, value: answer.value.data.promise, json: answer.json } : alone;
}
