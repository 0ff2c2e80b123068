import {
  CA_EXTENSIONS,
  type CertificateOptions,
  extension,
  inhibitAnyPolicy,
  makeCertificate,
  nameConstraints,
  policies,
  policyConstraints,
  policyMappings,
  type TestCertificate,
  TSA_EXTENSIONS,
} from './certificates.js';
import { context, implicit, integer, oid, sequence, set, utf8 } from './der.js';
import { type CrlOptions, makeCrl, makeOcspResponse } from './revocation.js';
import { GEN_TIME } from './tokens.js';

/** A chain whose verdict RFC 5280 states, beside what openssl says of it. */
export interface ChainCase {
  readonly name: string;
  readonly root: TestCertificate;
  readonly tsa: TestCertificate;
  /** Further certificates. */
  readonly others: readonly TestCertificate[];
  readonly crls?: readonly Uint8Array[];
  readonly ocspResponses?: readonly Uint8Array[];
  /** Outcomes of the checks that do not pass, by their ids without `tst.`. */
  readonly ours: { readonly path?: string; readonly revocation?: string };
  /**
   * Verdict of `openssl verify -policy_check -policy 2.5.29.32.0`, with `-crl_check` where a CRL is given; null where it
   * reads no such answer.
   */
  readonly openssl: 'accepts' | 'refuses' | null;
}

const A = '1.3.6.1.4.1.99999.1';
const B = '1.3.6.1.4.1.99999.2';
const ANY = '2.5.29.32.0';
const REFUSED = { path: 'fail', revocation: 'indeterminate' } as const;
const OPEN = { revocation: 'indeterminate' } as const;

const root = makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS });
const ca = (name: string, issuer: TestCertificate, ...extensions: Uint8Array[]) =>
  makeCertificate({ name, issuer, extensions: [...CA_EXTENSIONS, ...extensions] });
const tsaOf = (issuer: TestCertificate, extensions: Uint8Array[], options: Partial<CertificateOptions> = {}) =>
  makeCertificate({ name: 'Test TSA', issuer, extensions: [...TSA_EXTENSIONS, ...extensions], ...options });

type Verdicts = Pick<ChainCase, 'ours' | 'openssl'>;
const good: Verdicts = { ours: {}, openssl: 'accepts' };
const bad: Verdicts = { ours: REFUSED, openssl: 'refuses' };

/** A path through CAs with these extensions, from the root down, to an authority. */
function throughCas(name: string, cas: readonly Uint8Array[][], leaf: Uint8Array[], verdicts: Verdicts): ChainCase {
  const others: TestCertificate[] = [];
  for (const [index, extensions] of cas.entries()) others.push(ca(`CA ${index}`, others.at(-1) ?? root, ...extensions));
  return { name, root, tsa: tsaOf(others.at(-1) ?? root, leaf), others, ...verdicts };
}

/** Policies (RFC 5280 §6.1.2 to 6.1.5). */
function policyCases(): ChainCase[] {
  const explicit = (critical = false) => policyConstraints(critical, 0);
  return [
    throughCas('a policy is required, and the leaf has another one', [[policies(A), explicit()]], [policies(B)], bad),
    throughCas('a policy is required, and the leaf has it', [[policies(A), explicit()]], [policies(A)], good),
    throughCas('a policy is required, and the leaf has none', [[policies(A), explicit()]], [], bad),
    throughCas('no policy is required, and the leaf has another one', [[policies(A)]], [policies(B)], good),
    throughCas(
      'a policy is required critically, and anyPolicy is left',
      [[policies(ANY), explicit(true)]],
      [policies(B)],
      good,
    ),
    throughCas(
      'a policy is required only two certificates further',
      [[policies(A), policyConstraints(false, 2)]],
      [policies(B)],
      good,
    ),
    throughCas('anyPolicy is mapped', [[policies(A), policyMappings([ANY, B])]], [policies(B)], bad),
    throughCas(
      'a policy is mapped to the one of the leaf',
      [[policies(A), policyMappings([A, B]), explicit()]],
      [policies(B)],
      good,
    ),
    throughCas(
      'a policy is mapped away from the one of the leaf',
      [[policies(A), policyMappings([A, B]), explicit()]],
      [policies(A)],
      bad,
    ),
    throughCas(
      'a policy is mapped although mapping is inhibited',
      [
        [policies(A), policyConstraints(true, 0, 0)],
        [policies(A), policyMappings([A, B])],
      ],
      [policies(B)],
      bad,
    ),
    throughCas(
      'anyPolicy is inhibited, and the leaf has only it',
      [[policies(A), explicit(), inhibitAnyPolicy(0)]],
      [policies(ANY)],
      bad,
    ),
    throughCas(
      'anyPolicy is inhibited only from the next but one',
      [[policies(A), explicit(), inhibitAnyPolicy(1)]],
      [policies(ANY)],
      good,
    ),
    throughCas('policyConstraints say nothing', [[policyConstraints(false)]], [], bad),
  ];
}

/** Constraints of mailboxes on a subject with emailAddress (RFC 5280 §4.2.1.10). */
function mailboxCases(): ChainCase[] {
  const base = (value: string) => implicit(1, new TextEncoder().encode(value));
  const through = (name: string, constraints: Uint8Array, mailbox: string, verdicts: Verdicts): ChainCase => {
    const issuer = ca('Constrained', root, constraints);
    return { name, root, tsa: tsaOf(issuer, [], { mailbox }), others: [issuer], ...verdicts };
  };
  const permitted = (value: string) => nameConstraints(0, base(value));
  return [
    through('a mailbox at a host that is not permitted', permitted('good.example'), 'tsa@bad.example', bad),
    through('a mailbox at the permitted host', permitted('good.example'), 'tsa@GOOD.example', good),
    through('a mailbox below the permitted host', permitted('good.example'), 'tsa@a.good.example', bad),
    through('a mailbox below the permitted domain', permitted('.good.example'), 'tsa@a.good.example', good),
    through('the permitted mailbox', permitted('tsa@good.example'), 'tsa@good.example', good),
    through(
      'the permitted mailbox with another case before the host',
      permitted('tsa@good.example'),
      'TSA@good.example',
      bad,
    ),
    through('an excluded mailbox', nameConstraints(1, base('good.example')), 'tsa@good.example', bad),
    through('a mailbox beside an excluded one', nameConstraints(1, base('good.example')), 'tsa@other.example', good),
    through('a mailbox without a host', nameConstraints(1, base('good.example')), 'tsa', bad),
  ];
}

const hours = (count: number) => new Date(GEN_TIME.getTime() + count * 3_600_000);
const AFTER = { thisUpdate: hours(-1), nextUpdate: hours(25) };
const scope = (...fields: Uint8Array[]) => extension('2.5.29.28', true, sequence(...fields));
const uri = (url: string) => context(0, context(0, implicit(6, new TextEncoder().encode(url))));
const relative = (name: string) => context(0, context(1, sequence(oid('2.5.4.3'), utf8(name))));
const fullName = (name: string) =>
  context(
    0,
    context(0, context(4, sequence(...['Root', name].map((part) => set(sequence(oid('2.5.4.3'), utf8(part))))))),
  );
const points = (name: Uint8Array) => extension('2.5.29.31', false, sequence(sequence(name)));
const flag = (tag: number) => implicit(tag, new Uint8Array([0xff]));

/** CRLs that are one part of several, named below their issuer (RFC 5280 §4.2.1.13, §5.2.5). */
function partCases(): ChainCase[] {
  const part = (name: string, own: Uint8Array, ofCrl: Uint8Array, verdicts: Verdicts): ChainCase => ({
    name,
    root,
    tsa: tsaOf(root, [points(own)]),
    others: [],
    crls: [makeCrl(root, { ...AFTER, extensions: [scope(ofCrl)] })],
    ...verdicts,
  });
  const other: Verdicts = { ours: OPEN, openssl: 'refuses' };
  return [
    part('the CRL of another part, named below its issuer', relative('Part 1'), relative('Part 2'), other),
    part('the CRL of the certificate’s part, named below its issuer', relative('Part 1'), relative('Part 1'), good),
    part('the CRL of the certificate’s part, named in full', relative('Part 1'), fullName('Part 1'), good),
    part(
      'the CRL of a part, and a certificate of another address',
      uri('http://crl.example/1'),
      relative('Part 1'),
      other,
    ),
  ];
}

/** Certificates that name no source, and answers about them that are of no use. */
function givenCases(): ChainCase[] {
  const tsa = tsaOf(root, []);
  const revoked = [{ serial: tsa.serial, at: hours(-1) }];
  const given = (name: string, crls: readonly Uint8Array[], verdicts: Verdicts, others: TestCertificate[] = []) => ({
    name,
    root,
    tsa,
    others,
    crls,
    ...verdicts,
  });
  const crl = (options: Partial<CrlOptions>) => makeCrl(root, { ...AFTER, revoked, ...options });
  const open: Verdicts = { ours: OPEN, openssl: 'refuses' };
  const nothing: Verdicts = { ours: {}, openssl: 'refuses' };
  const newKey = makeCertificate({ name: 'Root', issuer: root, extensions: CA_EXTENSIONS });
  const stranger = makeCertificate({ name: 'Stranger', extensions: CA_EXTENSIONS });
  const damaged = (bytes: Uint8Array, at: number) =>
    bytes.map((octet, i) => (i === (at + bytes.length) % bytes.length ? octet ^ 1 : octet));
  const ocsp = (name: string, answer: Uint8Array, ours: ChainCase['ours']): ChainCase => ({
    name,
    root,
    tsa,
    others: [],
    ocspResponses: [answer],
    ours,
    openssl: null,
  });
  const answer = (about: TestCertificate) => makeOcspResponse(about, root, { ...AFTER, status: { at: hours(-1) } });
  return [
    given('a CRL that revokes it', [crl({})], { ours: { revocation: 'fail' }, openssl: 'refuses' }),
    given('a CRL that revokes it, with one bit of the signature changed', [damaged(crl({}), -1)], open),
    // The type of the time that ends the list, which is no time then.
    given('a CRL that revokes it, and cannot be read', [damaged(crl({}), crl({}).indexOf(0x17))], open),
    given(
      'a CRL that revokes it, with a scope that cannot be read',
      [crl({ extensions: [extension('2.5.29.28', true, integer(1))] })],
      open,
    ),
    given('a CRL that revokes it, by a key of the issuer that nobody certified', [crl({ signer: stranger })], open),
    given(
      'a CRL that revokes it, by a further key of its issuer',
      [crl({ signer: newKey })],
      { ours: { revocation: 'fail' }, openssl: 'refuses' },
      [newKey],
    ),
    given('an indirect CRL of its issuer', [crl({ extensions: [scope(flag(4))] })], open),
    given('a CRL of another issuer', [makeCrl(stranger, { ...AFTER, revoked })], nothing),
    given('a CRL for certificates of CAs', [crl({ extensions: [scope(flag(2))] })], nothing),
    given(
      'a CRL of a part, while the certificate is in none',
      [crl({ extensions: [scope(uri('http://crl.example/1'))] })],
      nothing,
    ),
    given('a delta CRL', [crl({ extensions: [extension('2.5.29.27', true, integer(1))] })], nothing),
    ocsp('an OCSP answer that revokes it', answer(tsa), { revocation: 'fail' }),
    ocsp('an OCSP answer that revokes it, with one bit of the signature changed', damaged(answer(tsa), -1), OPEN),
    ocsp('an OCSP answer about another certificate', answer(tsaOf(root, [], { serial: 77n })), {}),
  ];
}

export const CHAINS: readonly ChainCase[] = [...policyCases(), ...mailboxCases(), ...partCases(), ...givenCases()];
