import { randomBytes } from 'node:crypto';
import { equalBytes } from '../../schemas/crypto/encoding.js';
import type { TimestampClaims, TimestampInput, TimestampReport } from '../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../schemas/rfc3161/verify.js';
import { judgeTime, type StatedTime } from './acceptance.js';
import type { Context, ObtainedTimestamp } from './client-options.js';
import { AuthorityFailure } from './errors.js';
import { exchange, HttpFailure } from './http.js';
import { timestampRequest } from './requests.js';
import { gatherRevocation } from './revocation-gathering.js';

const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_ASKED_AGAIN = 3;
const NONCE_OCTETS = 16;

/**
 * Obtains a time stamp from one authority. It requests a token, verifies it completely, checks its
 * time, and gathers revocation data.
 * @throws AuthorityFailure if the authority returns no valid token
 */
export async function stampWith(
  url: string,
  data: Uint8Array,
  previous: StatedTime | undefined,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<ObtainedTimestamp> {
  for (let attempts = 1; ; attempts += 1) {
    const sent = context.clock();
    const nonce = new Uint8Array(randomBytes(NONCE_OCTETS));
    const response = await request(url, data, nonce, signal, context);
    const input = verificationInput(response, data, nonce, context);
    const report = await verifyTimestamp({ ...input, revocation: 'ignore' });
    const { claims } = report;
    if (report.outcome !== 'pass' || claims === undefined) throw new AuthorityFailure(complaints(report));
    const judgement = judgeTime(claims, previous, sent, context.clock());
    if (judgement.verdict === 'accept') return complete(url, response, input, report, claims, signal, context);
    if (judgement.verdict === 'refuse') throw new AuthorityFailure(judgement.reason);
    if (attempts === MAX_ASKED_AGAIN) throw new AuthorityFailure('states a time before that of the previous token');
    await context.sleep(judgement.pauseMs);
  }
}

async function request(
  url: string,
  data: Uint8Array,
  nonce: Uint8Array,
  signal: AbortSignal | undefined,
  { fetch, timeoutMs, hash = 'sha256', requestedPolicy }: Context,
): Promise<Uint8Array> {
  try {
    const { body, contentType } = await exchange(fetch, {
      url,
      method: 'POST',
      body: timestampRequest(data, hash, nonce, requestedPolicy),
      headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
      timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
      ...(signal && { signal }),
    });
    if (contentType !== 'application/timestamp-reply') {
      throw new AuthorityFailure('did not answer with a time stamp');
    }
    return body;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof HttpFailure) throw new AuthorityFailure(error.message, { cause: error });
    throw error;
  }
}

function verificationInput(
  token: Uint8Array,
  data: Uint8Array,
  nonce: Uint8Array,
  { trustAnchors, untrusted, allowedPolicies, requestedPolicy, clock }: Context,
): Omit<TimestampInput, 'revocation'> {
  const policies = allowedPolicies ?? (requestedPolicy === undefined ? undefined : [requestedPolicy]);
  return {
    token,
    stamped: { data },
    trustAnchors,
    at: clock(),
    expectedNonce: nonce,
    ...(untrusted && { untrusted }),
    ...(policies && { allowedPolicies: policies }),
  };
}

/** Adds the revocation data, and refuses a token with a revoked certificate. */
async function complete(
  url: string,
  response: Uint8Array,
  input: Omit<TimestampInput, 'revocation'>,
  first: TimestampReport,
  claims: TimestampClaims,
  signal: AbortSignal | undefined,
  context: Context,
): Promise<ObtainedTimestamp> {
  const certificates = first.chainCertificates;
  const gathered = await gatherRevocation(certificates, { ...context, ...(signal && { signal }) });
  const { crls, ocspResponses, problems } = gathered;
  const report = await verifyTimestamp({ ...input, crls, ocspResponses, revocation: 'require' });
  const { organization } = report;
  if (report.outcome === 'fail' || organization === undefined) throw new AuthorityFailure(complaints(report));
  return {
    response,
    authority: url,
    organization,
    genTime: claims.genTime,
    genTimeText: claims.genTimeText,
    accuracyMicroseconds: claims.accuracyMicroseconds,
    serial: claims.serial,
    report,
    certificates,
    crls: withoutCopies(crls),
    ocspResponses: withoutCopies(ocspResponses),
    gatheringProblems: problems,
  };
}

function complaints({ checks }: TimestampReport): string {
  const bad = checks.filter(({ outcome }) => outcome === 'fail');
  const shown = bad.length > 0 ? bad : checks.filter(({ outcome }) => outcome === 'indeterminate');
  return shown.map(({ id, message }) => `${id}: ${message}`).join('; ');
}

function withoutCopies(items: readonly Uint8Array[]): Uint8Array[] {
  return items.filter((item, index) => items.findIndex((other) => equalBytes(other, item)) === index);
}
