import * as z from 'zod';
import type { ConsentResponse } from '../../../schemas/api/consents.js';

/** A request of a scanned page, as the browser reports it before it is sent. */
export const PageRequest = z.looseObject({
  url: z.string(),
  method: z.string(),
  headers: z.record(z.string(), z.string()),
});
export type PageRequest = z.infer<typeof PageRequest>;

/** An answer of the Tool API, by the names of the DevTools protocol (`Fetch.fulfillRequest`). */
interface AnswerInPlace {
  readonly responseCode: number;
  readonly responseHeaders: readonly { readonly name: string; readonly value: string }[];
  /** In Base64. */
  readonly body: string;
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Answers a request that would record something about the visitor, who does not exist. The page goes on as after a
 * record, and the service learns nothing. The Tool API is known by its path alone: pages may reach it by any host.
 * @returns null for a request that may be sent, and `fail` for one that may not, and has no answer
 */
export function answerInPlace({ url, method, headers }: PageRequest): AnswerInPlace | 'fail' | null {
  const path = URL.canParse(url) ? plainPath(new URL(url).pathname) : '';
  if (READING.has(method.toUpperCase()) || !path.includes('/tool/v1/')) return null;
  if (!path.endsWith('/tool/v1/consents')) return 'fail';
  const nothing: ConsentResponse = {
    message: 'A scan records nothing.',
    data: {
      consent_token: `ct_${'0'.repeat(32)}`,
      proof_hash: '0'.repeat(64),
      created_at: new Date().toISOString(),
      duplicate: false,
      promise: null,
    },
  };
  const origin = Object.entries(headers).find(([name]) => name.toLowerCase() === 'origin')?.[1] ?? '*';
  return {
    responseCode: 202,
    responseHeaders: [
      { name: 'Content-Type', value: 'application/json' },
      { name: 'Access-Control-Allow-Origin', value: origin },
    ],
    body: Buffer.from(JSON.stringify(nothing)).toString('base64'),
  };
}

/** Servers decode a path, and some join its slashes or ignore its case. */
function plainPath(path: string): string {
  let plain = path;
  try {
    plain = decodeURIComponent(path);
  } catch {
    // No server finds a route by a path that cannot be decoded.
  }
  return plain.replaceAll(/\/+/g, '/').toLowerCase();
}
