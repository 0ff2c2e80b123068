import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError, ERROR_CODES } from '../../../schemas/api/error-codes.js';
import { hmacSha256Hex } from '../../platform/keys/index.js';
import { callerOf } from '../server/caller.js';
import { isBodyTaken } from '../server/json-body.js';

/**
 * Largest difference between X-Timestamp and the server's clock, in seconds, in either direction.
 */
const TIMESTAMP_TOLERANCE_SECONDS = 300;
const TIMESTAMP = /^\d{1,12}$/;
/** A time in milliseconds, which many languages return by default. */
const MILLISECONDS = /^\d{13}$/;
const IN_MILLISECONDS = 'X-Timestamp is in milliseconds. Send the Unix time in seconds, and sign the same text.';
const NONCE = /^[A-Za-z0-9._:-]{8,128}$/;

/** The signed parts of a request. */
export interface SignedParts {
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  readonly timestamp: string;
  readonly nonce: string;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
}

/**
 * Computes the signature of a request: lower-case hex HMAC-SHA256 with the API key
 * (docs/examples/http has an example).
 */
export function requestSignature(apiKey: string, parts: SignedParts): string {
  return hmacSha256Hex(Buffer.from(apiKey), signedText(parts));
}

function signedText({ method, path, timestamp, nonce, body }: SignedParts): string {
  return `${method.toUpperCase()}\n${path}\n${timestamp}\n${nonce}\n${hash('sha256', body, 'hex')}`;
}

interface SignatureHeaders {
  readonly signature: string;
  readonly timestamp: string;
  readonly nonce: string;
}

/**
 * Parses the signature headers.
 * @param now Unix milliseconds
 * @throws ApiError MISSING_SIGNATURE_HEADERS, TIMESTAMP_EXPIRED, INVALID_NONCE, in this order
 */
function signatureHeaders({ headers }: FastifyRequest, now: number): SignatureHeaders {
  const { 'x-signature': signature, 'x-timestamp': timestamp, 'x-nonce': nonce } = headers;
  if (typeof signature !== 'string' || typeof timestamp !== 'string' || typeof nonce !== 'string') {
    throw new ApiError('MISSING_SIGNATURE_HEADERS');
  }
  const isTimely = TIMESTAMP.test(timestamp) && Math.abs(Number(timestamp) - now / 1000) <= TIMESTAMP_TOLERANCE_SECONDS;
  if (!isTimely) throw new ApiError('TIMESTAMP_EXPIRED', MILLISECONDS.test(timestamp) ? IN_MILLISECONDS : undefined);
  if (!NONCE.test(nonce)) throw new ApiError('INVALID_NONCE');
  return { signature, timestamp, nonce };
}

/**
 * Checks the signature headers before the body is read. A request whose size or media type will be
 * refused passes, because that error takes precedence.
 * @param now Unix milliseconds
 * @throws ApiError MISSING_SIGNATURE_HEADERS, TIMESTAMP_EXPIRED, INVALID_NONCE, in this order
 */
export function checkSignatureHeaders(request: FastifyRequest, now: number): void {
  try {
    signatureHeaders(request, now);
  } catch (error) {
    if (isBodyTaken(request)) throw error;
  }
}

/**
 * Checks the signature of a Tool API request with a known key, before the body is parsed.
 * @param now Unix milliseconds
 * @returns the nonce, which the caller of this function must mark as used, regardless of the outcome of the request
 * @throws ApiError MISSING_SIGNATURE_HEADERS, TIMESTAMP_EXPIRED, INVALID_NONCE, INVALID_SIGNATURE,
 *   in this order
 */
export function checkSignature(request: FastifyRequest, now: number): string {
  const { signature, timestamp, nonce } = signatureHeaders(request, now);
  const { rawApiKey, apiKey } = callerOf(request);
  const { method, rawBody: body } = request;
  const parts = { method, path: pathOf(request.url), timestamp, nonce, body };
  if (!isEqualSecret(requestSignature(rawApiKey, parts), signature))
    throw new ApiError('INVALID_SIGNATURE', apiKey.mode === 'test' ? comparison(parts) : undefined);
  return nonce;
}

/**
 * What the service signed, for a developer to compare with what the program signed. All of it came with the request.
 */
function comparison(parts: SignedParts): string {
  const text = JSON.stringify(signedText(parts));
  return `${ERROR_CODES.INVALID_SIGNATURE.meaning} The service signed this text, as a JSON string: ${text}`;
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

function isEqualSecret(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
