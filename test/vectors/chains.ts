/**
 * Chains of certificates and CRLs, against the path validation of time stamps. The folder holds one or
 * both of these:
 *
 * - `pkits`: NIST's PKITS, as github.com/MatthiasValvekens/certvalidator has it in
 *   tests/fixtures/nist_pkits (`pkits.json`, `certs`, `crls`);
 * - `limbo.json` of github.com/C2SP/x509-limbo.
 *
 * The leaves are for other purposes than time stamping, which these checks do not look at.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { checkChain } from '../../schemas/rfc3161/checks/chain-checks.js';
import { attempt, MalformedInput } from '../../schemas/rfc3161/errors.js';
import { issuerOfUnreadable, parseCrl } from '../../schemas/rfc3161/revocation/crl.js';
import { UNBOUNDED_WORK } from '../../schemas/rfc3161/work.js';
import { parseCertificate } from '../../schemas/rfc3161/x509/certificate.js';

interface Verdict {
  readonly title: string;
  readonly right: number;
  readonly wronglyAccepted: readonly string[];
  readonly notAccepted: readonly string[];
  readonly notApplicable: readonly string[];
}

interface Case {
  readonly id: string;
  readonly leaf: Uint8Array;
  readonly others: readonly Uint8Array[];
  readonly anchors: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
  readonly revocation: 'require' | 'ignore';
  readonly time: Date;
  readonly isRight: boolean;
  /** Why it asks for something that a time stamp has not; undefined if it does not. */
  readonly notApplicable: string | undefined;
}

/** Judges each chain of the folder. */
export async function run(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  if (existsSync(join(folder, 'pkits'))) verdicts.push(await judged('PKITS', pkitsCases(join(folder, 'pkits'))));
  const limbo = join(folder, 'limbo.json');
  if (existsSync(limbo)) verdicts.push(await judged('x509-limbo', limboCases(limbo)));
  return verdicts;
}

async function judged(title: string, cases: readonly Case[]): Promise<Verdict> {
  const lists = { right: 0, wronglyAccepted: [''], notAccepted: [''], notApplicable: [''] };
  for (const list of [lists.wronglyAccepted, lists.notAccepted, lists.notApplicable]) list.length = 0;
  for (const one of cases) {
    const { isAccepted, why } = await judge(one);
    if (one.notApplicable !== undefined) lists.notApplicable.push(`${one.id}: ${one.notApplicable}`);
    else if (isAccepted === one.isRight) lists.right += 1;
    else (isAccepted ? lists.wronglyAccepted : lists.notAccepted).push(`${one.id}: ${why}`);
  }
  return { title, ...lists };
}

async function judge({ leaf, others, anchors, crls, revocation, time }: Case) {
  const read = <T>(items: readonly Uint8Array[], parse: (der: Uint8Array) => T) =>
    items.flatMap((der) => {
      const item = attempt(() => parse(der));
      return item instanceof MalformedInput ? [] : [item];
    });
  const [signer] = read([leaf], parseCertificate);
  if (signer === undefined) return { isAccepted: false, why: 'the certificate cannot be read' };
  const trusted = read(anchors, parseCertificate);
  const unreadable = crls.flatMap((der) => {
    const crl = attempt(() => parseCrl(der));
    return crl instanceof MalformedInput ? [{ reason: crl.message, issuer: issuerOfUnreadable(der) }] : [];
  });
  const { pathCheck, revocationCheck } = await checkChain(signer, {
    anchors: trusted,
    intermediates: [...read(others, parseCertificate), ...trusted],
    answers: { crls: read(crls, parseCrl), ocspResponses: [], unreadable },
    revocation, genTime: time, at: time, spend: UNBOUNDED_WORK,
  });
  const isAccepted = [pathCheck, revocationCheck].every(({ outcome }) => ['pass', 'not-applicable'].includes(outcome));
  return { isAccepted, why: [pathCheck, revocationCheck].map(({ outcome, message }) => `${outcome}: ${message}`).join(' | ') };
}

const PKITS = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    cert: z.string(),
    other_certs: z.array(z.string()).default([]),
    crls: z.array(z.string()).default([]),
    revocation: z.boolean().default(true),
    params: z.record(z.string(), z.unknown()).default({}),
    error: z.unknown().optional(),
  }),
);

const NOT_ASKED = 'the certificate names no source, and nothing about it is given: a time stamp is valid then';

/**
 * Chains that PKITS refuses because the revocation of a certificate that names no source of information
 * is not known.
 */
const NOTHING_GIVEN: ReadonlyMap<string, string> = new Map([
  ...['40401', '40405', '40406', '41409', '41411', '41412', '41414', '41501'].map((id) => [id, NOT_ASKED] as const),
  ['41504', 'revoked by a delta CRL alone, which is not used'],
]);

function pkitsCases(folder: string): Case[] {
  const certificate = (file: string) => readFileSync(join(folder, 'certs', file));
  const crl = (file: string) => readFileSync(join(folder, 'crls', file));
  const cases = PKITS.parse(JSON.parse(readFileSync(join(folder, 'pkits.json'), 'utf8')));
  return cases.map(({ id, name, cert, other_certs, crls, params, error }) => ({
    id: `4.${Number(id.slice(1, 3))}.${Number(id.slice(3, 5))} ${id.slice(5)} ${name}`,
    leaf: certificate(cert),
    others: other_certs.map(certificate),
    anchors: [certificate('TrustAnchorRootCertificate.crt')],
    crls: ['TrustAnchorRootCRL.crl', ...crls].map(crl),
    revocation: 'require',
    time: new Date('2022-05-01T00:00:00Z'),
    isRight: error === undefined,
    notApplicable: isDefault(params)
      ? NOTHING_GIVEN.get(id.slice(0, 5))
      : `other inputs: ${JSON.stringify(params)}`,
  }));
}

/** Whether the inputs of RFC 5280 §6.1.1 are those of a time stamp. */
function isDefault(params: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(params).every(([name, value]) =>
    name === 'user_initial_policy_set' ? JSON.stringify(value) === '["any_policy"]' : value === false,
  );
}

const LIMBO = z.object({
  testcases: z.array(
    z.object({
      id: z.string(),
      trusted_certs: z.array(z.string()),
      untrusted_intermediates: z.array(z.string()),
      peer_certificate: z.string(),
      validation_time: z.string().nullable(),
      expected_result: z.enum(['SUCCESS', 'FAILURE']),
      crls: z.array(z.string()).default([]),
      max_chain_depth: z.number().nullish(),
    }),
  ),
});

/** Why cases do not apply, by what their ids match. */
const NOT_APPLICABLE: readonly (readonly [RegExp, string])[] = [
  [/^webpki::|::san::|::eku::|::cn::|wrong-san$/, 'about certificates of servers'],
  [/::nc-dos-/, 'valid, but refused by most for what it costs'],
  [
    /::(?:aki|ski|serial)::|::crlnumber-|::not-allowed-in-ee|noncritical-pc$|::ca-empty-subject$|::root-|::leaf-ku-|::ee-critical-aia/,
    'about what an authority may issue (RFC 5280 §4), not about what a verifier must refuse (§6)',
  ],
];

function limboCases(file: string): Case[] {
  return LIMBO.parse(JSON.parse(readFileSync(file, 'utf8'))).testcases.map((one) => ({
    id: one.id,
    leaf: fromPem(one.peer_certificate),
    others: one.untrusted_intermediates.map(fromPem),
    anchors: one.trusted_certs.map(fromPem),
    crls: one.crls.map(fromPem),
    revocation: 'require',
    time: new Date(one.validation_time ?? '2024-01-01T00:00:00Z'),
    isRight: one.expected_result === 'SUCCESS',
    notApplicable:
      one.max_chain_depth != null
        ? 'a length of the path that the caller chooses'
        : NOT_APPLICABLE.find(([pattern]) => pattern.test(one.id))?.[1],
  }));
}

function fromPem(text: string): Uint8Array {
  return Buffer.from(text.replace(/-----[^-]+-----/g, ''), 'base64');
}
