import { unsoundAt } from '../strength.js';
import type { SpendWork } from '../work.js';
import type { Certificate } from '../x509/certificate.js';
import { type Name, sameName } from '../x509/names.js';
import type { Path } from '../x509/path.js';
import type { Crl } from './crl.js';
import { type CrlSigner, crlEvidence } from './crl-evidence.js';
import { type RevocationEvidence, type RevocationVerdict, weighEvidence } from './evidence.js';
import type { OcspResponse } from './ocsp.js';
import { ocspEvidence } from './ocsp-evidence.js';

/** Everything enclosed that may say whether a certificate was revoked. */
export interface RevocationAnswers {
  readonly crls: readonly Crl[];
  readonly ocspResponses: readonly OcspResponse[];
  readonly unreadable: readonly UnreadableAnswer[];
}

/** A CRL or OCSP response that cannot be read. */
export interface UnreadableAnswer {
  readonly reason: string;
  /** The issuer that a CRL names, if only that can be read. */
  readonly issuer: Name | undefined;
}

/** The time as of which a path is evaluated. */
export interface RevocationConditions {
  readonly genTime: Date;
  /** Until when the algorithms of a response must be secure for the response to clear a certificate. */
  readonly at: Date;
  readonly spend: SpendWork;
  /** Further certificates of an issuer, with other keys, that may sign its CRLs. */
  readonly crlSigners?: (issuer: Certificate) => Promise<readonly CrlSigner[]>;
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
 * Determines whether any certificate of a path was revoked at genTime (RFC 5280 §6.1.3 (a)(3), RFC 3161 §4). The anchor
 * is trusted from outside and not checked.
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
  { genTime, at, spend, crlSigners }: RevocationConditions,
  isSigner: boolean,
): Promise<RevocationVerdict> {
  const otherSigners = crlSigners && (() => crlSigners(issuer));
  const results = [
    ...(await Promise.all(answers.crls.map((crl) => crlEvidence(crl, certificate, issuer, spend, otherSigners)))),
    ...(await Promise.all(answers.ocspResponses.map((response) => ocspEvidence(response, certificate, issuer, spend)))),
  ];
  const unusable = results.filter((result) => 'isAbout' in result);
  const evidence = results
    .flatMap((result) => ('isAbout' in result ? [] : result))
    .map((item) => ({ ...item, limit: item.limit ?? unsoundLimit(item, at) }));
  const name = certificate.subject.text;
  const isGiven =
    unusable.some(({ isAbout }) => isAbout) ||
    answers.unreadable.some((answer) => answer.issuer !== undefined && sameName(answer.issuer, certificate.issuer));
  if (evidence.length === 0 && !isGiven && !namesSource(certificate)) {
    return { state: 'not-applicable', message: `${name} names no source of revocation information`, strengths: [] };
  }
  const verdict = weighEvidence(evidence, genTime, isSigner);
  if (verdict.state !== 'indeterminate') return { ...verdict, message: `${name}: ${verdict.message}` };
  const unused = [
    ...unusable.map(({ reason }) => reason),
    ...evidence.flatMap(({ source, limit }) => (limit === undefined ? [] : [`${source} ${limit}`])),
    ...answers.unreadable.map(({ reason }) => reason),
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
