import { toHex } from '../../schemas/crypto/encoding.js';
import { attempt, MalformedInput } from '../../schemas/rfc3161/errors.js';
import { parseCrl } from '../../schemas/rfc3161/revocation/crl.js';
import { crlEvidence } from '../../schemas/rfc3161/revocation/crl-evidence.js';
import type { RevocationEvidence } from '../../schemas/rfc3161/revocation/evidence.js';
import { parseOcspResponse } from '../../schemas/rfc3161/revocation/ocsp.js';
import { ocspEvidence } from '../../schemas/rfc3161/revocation/ocsp-evidence.js';
import { UNBOUNDED_WORK } from '../../schemas/rfc3161/work.js';
import { type Certificate, parseCertificate } from '../../schemas/rfc3161/x509/certificate.js';
import { exchange, type Fetch, HttpFailure } from './http.js';
import { ocspRequest } from './requests.js';

/** The revocation data of a chain. `problems` are readable texts, safe to log. */
export interface GatheredRevocation {
  readonly crls: readonly Uint8Array[];
  readonly ocspResponses: readonly Uint8Array[];
  readonly problems: readonly string[];
}

/** The dependencies of the gathering. */
export interface GatheringContext {
  readonly fetch: Fetch;
  readonly clock: () => Date;
  readonly cache: AnswerCache;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const MAX_CRL_BYTES = 8 * 1024 * 1024;
const MAX_OCSP_BYTES = 256 * 1024;
/** Limit of sources that are asked per certificate, so that a certificate cannot cause many requests. */
const MAX_SOURCES = 4;

/**
 * Requests revocation data from the sources in a chain's certificates (CRL distribution points,
 * OCSP responders). It keeps the responses that concern the chain and have a valid signature.
 *
 * @param chain DER, the signer's certificate first, the trust anchor last; the anchor is not
 *   checked
 * @returns the data; failures of a source are among `problems`, and do not reject
 */
export async function gatherRevocation(
  chain: readonly Uint8Array[],
  context: GatheringContext,
): Promise<GatheredRevocation> {
  const certificates = chain.map(parseCertificate);
  const crls: Uint8Array[] = [];
  const ocspResponses: Uint8Array[] = [];
  const problems: string[] = [];
  for (const [index, certificate] of certificates.entries()) {
    const issuer = certificates[index + 1];
    if (issuer === undefined) continue;
    const kinds = [
      { urls: crlUrls(certificate), kept: crls, source: crlSource(certificate, issuer) },
      { urls: certificate.known.ocspUrls, kept: ocspResponses, source: ocspSource(certificate, issuer) },
    ];
    for (const { urls, kept, source } of kinds) {
      const answer = await firstAnswer(urls.slice(0, MAX_SOURCES), source, context, problems);
      if (answer !== undefined) kept.push(answer);
    }
  }
  return { crls, ocspResponses, problems };
}

/** One kind of request about one certificate. */
interface Source {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly maxBytes: number;
  /** Validates a response. @returns its `nextUpdate`, or the reason why it is unusable */
  readonly judge: (body: Uint8Array) => Promise<Pick<RevocationEvidence, 'nextUpdate'> | string>;
}

function crlSource(certificate: Certificate, issuer: Certificate): Source {
  return {
    method: 'GET',
    headers: { accept: 'application/pkix-crl, */*;q=0.5' },
    maxBytes: MAX_CRL_BYTES,
    judge: async (body) => {
      const crl = attempt(() => parseCrl(body));
      if (crl instanceof MalformedInput) return `not a CRL: ${crl.message}`;
      const evidence = await crlEvidence(crl, certificate, issuer, UNBOUNDED_WORK);
      return 'isAbout' in evidence ? evidence.reason : evidence;
    },
  };
}

function ocspSource(certificate: Certificate, issuer: Certificate): Source {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' },
    body: ocspRequest(certificate, issuer),
    maxBytes: MAX_OCSP_BYTES,
    judge: async (body) => {
      const response = attempt(() => parseOcspResponse(body));
      if (response instanceof MalformedInput) return response.message;
      const evidence = await ocspEvidence(response, certificate, issuer, UNBOUNDED_WORK);
      return 'isAbout' in evidence ? evidence.reason : { nextUpdate: earliest(evidence) };
    },
  };
}

/** Returns the earliest `nextUpdate`, or undefined if any response has none. */
function earliest(answers: readonly RevocationEvidence[]): Date | undefined {
  const times = answers.map(({ nextUpdate }) => nextUpdate);
  return times.includes(undefined) ? undefined : times.sort((a, b) => Number(a) - Number(b))[0];
}

async function firstAnswer(
  urls: readonly string[],
  source: Source,
  context: GatheringContext,
  problems: string[],
): Promise<Uint8Array | undefined> {
  for (const url of urls) {
    const answer = await ask(url, source, context);
    if (typeof answer !== 'string') return answer;
    problems.push(`${url} ${answer}`);
  }
  return undefined;
}

async function ask(url: string, source: Source, context: GatheringContext): Promise<Uint8Array | string> {
  const { cache, clock, fetch, timeoutMs, signal } = context;
  const { method, headers, body, maxBytes, judge } = source;
  const key = `${method} ${url} ${body === undefined ? '' : toHex(body)}`;
  const kept = cache.get(key, clock().getTime());
  if (kept !== undefined) return kept;
  try {
    const request = { url, method, headers, maxBytes, timeoutMs, ...(body && { body }), ...(signal && { signal }) };
    const response = await exchange(fetch, request);
    const evidence = await judge(response.body);
    if (typeof evidence === 'string') return `gave an answer of no use: ${evidence}`;
    const now = clock().getTime();
    const keep = keepFor(response.cacheControl, evidence.nextUpdate, now);
    if (keep > 0) cache.set(key, response.body, now + keep);
    return response.body;
  } catch (error) {
    if (error instanceof HttpFailure) return error.message;
    throw error;
  }
}

function crlUrls({ known }: Certificate): string[] {
  return known.crlDistributionPoints
    .filter(({ partial }) => !partial)
    .flatMap(({ names }) => names.flatMap((name) => (name.kind === 'uri' ? [name.value] : [])))
    .filter((url) => /^https?:/i.test(url));
}

/** Caches revocation responses, with limits on number and size. */
export class AnswerCache {
  readonly #entries = new Map<string, { readonly body: Uint8Array; readonly until: number }>();
  #bytes = 0;

  /** @param maxEntries maximum number of entries @param maxBytes maximum total size of all bodies */
  constructor(
    private readonly maxEntries: number,
    private readonly maxBytes: number,
  ) {}

  /**
   * The cached body of a key, or undefined if there is none or it has expired.
   * @param now Unix milliseconds
   */
  get(key: string, now: number): Uint8Array | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now) return entry.body;
    this.#remove(key);
    return undefined;
  }

  /**
   * Caches a body until `until` (Unix milliseconds). The oldest entries are evicted if necessary.
   */
  set(key: string, body: Uint8Array, until: number): void {
    this.#remove(key);
    if (body.length > this.maxBytes) return;
    this.#entries.set(key, { body, until });
    this.#bytes += body.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.maxEntries && this.#bytes <= this.maxBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.body.length ?? 0;
    this.#entries.delete(key);
  }
}

const LONGEST_MS = 10 * 60 * 1000;

/**
 * The time for which a response may be cached, in milliseconds. It follows Cache-Control, ends at
 * `nextUpdate`, and is at most ten minutes. A newer response is more useful, because only a
 * response made after a time stamp is conclusive for it.
 */
export function keepFor(cacheControl: string, nextUpdate: Date | undefined, now: number): number {
  if (/\bno-(store|cache)\b/i.test(cacheControl)) return 0;
  const maxAge = /\bmax-age=(\d{1,9})\b/i.exec(cacheControl)?.[1];
  const stated = maxAge === undefined ? LONGEST_MS : Number(maxAge) * 1000;
  const untilNext = nextUpdate === undefined ? LONGEST_MS : nextUpdate.getTime() - now;
  return Math.max(0, Math.min(stated, untilNext, LONGEST_MS));
}
