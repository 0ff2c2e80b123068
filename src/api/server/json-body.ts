import type { FastifyInstance, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { parseStrictInput, StrictJsonError } from '../../../schemas/json/strict-json.js';
import { fieldErrors, fieldOf } from '../../platform/errors.js';

const NO_BODY = Buffer.alloc(0);
const EXACT_NUMBER = 'must be a number that a double holds exactly: send larger ones as strings';

/**
 * Accepts only `application/json`, and keeps bodies as the received bytes, which signatures cover. Bodies are not
 * parsed here.
 */
export function keepRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = unknownEncoding(request);
    if (encoding !== null) {
      done(new ApiError('UNSUPPORTED_MEDIA_TYPE', `The content coding ${encoding.slice(0, 40)} is not supported.`));
    } else {
      done(null, body);
    }
  });
  app.decorateRequest('rawBody', {
    getter() {
      return Buffer.isBuffer(this.body) ? this.body : NO_BODY;
    },
  });
}

function unknownEncoding({ headers }: FastifyRequest): string | null {
  const { 'content-encoding': encoding = 'identity' } = headers;
  return encoding === 'identity' ? null : encoding;
}

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/**
 * Whether the headers announce a body that will be read: neither its size nor its media type is
 * refused. A missing body counts as one.
 */
export function isBodyTaken(request: FastifyRequest): boolean {
  const { 'content-type': type, 'content-length': length, 'transfer-encoding': chunked } = request.headers;
  if (type === undefined) return chunked === undefined && Number(length ?? 0) === 0;
  const isTooLarge = length !== undefined && Number(length) > request.routeOptions.bodyLimit;
  return JSON_MEDIA_TYPE.test(type) && unknownEncoding(request) === null && !isTooLarge;
}

/**
 * Parses a body as strict JSON.
 * @throws ApiError MALFORMED_JSON; VALIDATION_ERROR for a number that a double cannot represent
 */
export function parseJsonBody(bytes: Uint8Array): JsonValue {
  if (bytes.length === 0) throw new ApiError('MALFORMED_JSON', 'The body is empty; JSON is expected.');
  try {
    return parseStrictInput(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    if (error.path === null || error.path.length === 0) throw new ApiError('MALFORMED_JSON', error.message);
    throw new ApiError('VALIDATION_ERROR', undefined, {
      errors: [{ field: fieldOf(error.path), message: EXACT_NUMBER }],
    });
  }
}

/**
 * Validates a value from the client with a schema.
 * @throws ApiError VALIDATION_ERROR with one field error for each problem, at most 50
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: schemaWords });
  if (parsed.success) return parsed.data;
  throw new ApiError('VALIDATION_ERROR', undefined, { errors: fieldErrors(parsed.error) });
}
