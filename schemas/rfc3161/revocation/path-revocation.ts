import { unsoundAt } from '../strength.js';
import type { SpendWork } from '../work.js';
import type { Certificate } from '../x509/certificate.js';
import type { Path } from '../x509/path.js';
import type { Crl } from './crl.js';
import { crlEvidence } from './crl-evidence.js';
import { type RevocationEvidence, type RevocationVerdict, weighEvidence } from './evidence.js';
import type { OcspResponse } from './ocsp.js';
import { ocspEvidence } from './ocsp-evidence.js';

/** Everything enclosed that may say whether a certificate was revoked. */
export interface RevocationAnswers {
  readonly crls: readonly Crl[];
  readonly ocspResponses: readonly OcspResponse[];
  /** Why further CRLs and OCSP responses cannot be read. */
  readonly unreadable: readonly string[];
}

/** As of when a path is evaluated. */
export interface RevocationConditions {
  readonly genTime: Date;
  /** Until when the algorithms under an answer must be sound for it to clear a certificate. */
  readonly at: Date;
  readonly spend: SpendWork;
}

/** Worst first. */
const ORDER: readonly RevocationVerdict['state'][] = [
  'revoked',
  'indeterminate',
  'provisional',
  'conclusive',
  'not-applicable',
];

/**
 * Whether any certificate of a path was revoked at genTime. The anchor is trusted from outside and
 * not asked about.
 */
export async function pathRevocation(
  path: Path,
  answers: RevocationAnswers,
  conditions: RevocationConditions,
): Promise<RevocationVerdict> {
  const verdicts: RevocationVerdict[] = [];
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1];
    if (issuer !== undefined)
      verdicts.push(await certificateRevocation(certificate, issuer, answers, conditions, index === 0));
  }
  if (verdicts.length === 0) {
    return { state: 'not-applicable', message: 'the signer’s certificate is a trust anchor', strengths: [] };
  }
  const state = ORDER.find((candidate) => verdicts.some((verdict) => verdict.state === candidate)) ?? 'indeterminate';
  return {
    state,
    message: verdicts.map(({ message }) => message).join('; '),
    strengths: verdicts.flatMap(({ strengths }) => strengths),
  };
}

async function certificateRevocation(
  certificate: Certificate,
  issuer: Certificate,
  answers: RevocationAnswers,
  { genTime, at, spend }: RevocationConditions,
  isSigner: boolean,
): Promise<RevocationVerdict> {
  const results = [
    ...(await Promise.all(answers.crls.map((crl) => crlEvidence(crl, certificate, issuer, spend)))),
    ...(await Promise.all(answers.ocspResponses.map((response) => ocspEvidence(response, certificate, issuer, spend)))),
  ];
  const evidence = results
    .flatMap((result) => (typeof result === 'string' ? [] : result))
    .map((item) => ({ ...item, limit: item.limit ?? unsoundLimit(item, at) }));
  const name = certificate.subject.text;
  if (evidence.length === 0 && !namesSource(certificate)) {
    return { state: 'not-applicable', message: `${name} names no source of revocation information`, strengths: [] };
  }
  const verdict = weighEvidence(evidence, genTime, isSigner);
  if (verdict.state !== 'indeterminate') return { ...verdict, message: `${name}: ${verdict.message}` };
  const unused = [
    ...results.filter((result) => typeof result === 'string'),
    ...evidence.flatMap(({ source, limit }) => (limit === undefined ? [] : [`${source} ${limit}`])),
    ...answers.unreadable,
  ];
  const reasons = [...new Set(unused)].slice(0, 4).join(', ');
  return { ...verdict, message: `${name}: ${verdict.message}${reasons === '' ? '' : ` (${reasons})`}` };
}

function unsoundLimit({ strengths }: RevocationEvidence, at: Date): string | undefined {
  const unsound = unsoundAt(strengths, at);
  return unsound.length === 0
    ? undefined
    : `is signed with ${unsound.map(({ name }) => name).join(' and ')}, which is no longer sound`;
}

function namesSource({ known }: Certificate): boolean {
  return known.crlDistributionPoints.length > 0 || known.ocspUrls.length > 0;
}
