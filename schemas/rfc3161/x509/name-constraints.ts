import { context, Fields } from '../asn1/fields.js';
import { type Asn1Node, childrenOf, readSingle } from '../asn1/reader.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import type { Certificate } from './certificate.js';
import { type GeneralName, parseGeneralName } from './general-names.js';
import { type NameForm, printable, sameName } from './names.js';
import type { Path, Violation } from './path.js';

/** The subtrees of a nameConstraints extension. */
export interface Constraints {
  readonly permitted: Bases;
  readonly excluded: Bases;
}

/**
 * The bases of subtrees of each kind, by their length, because a name is compared with all bases of one length at once.
 */
interface Bases {
  /** Directory names, by the number of their relative names. */
  readonly directories: BasesByLength;
  /** Mailboxes, hosts, and domains with a leading period. */
  readonly mailboxes: BasesByLength;
  /** Kinds of names that occur among them. */
  readonly kinds: ReadonlySet<string>;
}

/** A quoted local part with a further @ is also refused. */
const MAILBOX = /^[^@]+@[^@]+$/;

type BasesByLength = ReadonlyMap<number, ReadonlySet<string>>;

/** Reads the constraints that a certificate states, or undefined if it states none. */
export type ReadConstraints = (certificate: Certificate) => Constraints | MalformedInput | undefined;

/** Reads the constraints of each certificate once, regardless of the number of its paths. */
export function constraintsReader(spend: SpendWork): ReadConstraints {
  const read = new Map<Certificate, ReturnType<ReadConstraints>>();
  return (certificate) => {
    const extension = certificate.extensions.get(OID.nameConstraints);
    if (extension === undefined) return undefined;
    const known = read.get(certificate);
    if (known !== undefined) return known;
    spend(TOKEN_WORK.asn1Byte * extension.value.length);
    const constraints = attempt(() => parseNameConstraints(readSingle(extension.value)));
    read.set(certificate, constraints);
    return constraints;
  };
}

/**
 * Name constraints along a path (RFC 5280 §4.2.1.10). Directory names and mailboxes are compared. If the kind of
 * another name in a certificate below is constrained, the result is undecided, because host names do not matter for a
 * time stamp authority.
 */
export function nameConstraintViolations(path: Path, constraintsOf: ReadConstraints, spend: SpendWork): Violation[] {
  return path.flatMap((certificate, index) => {
    const constraints = index === 0 ? undefined : constraintsOf(certificate);
    if (constraints === undefined) return [];
    if (constraints instanceof MalformedInput) {
      return [{ severity: 'fail', message: `the name constraints of ${certificate.subject.text} cannot be read` }];
    }
    const constrained = path.slice(0, index).filter((lower, i) => i === 0 || !sameName(lower.subject, lower.issuer));
    spend(TOKEN_WORK.namedByte * constrained.reduce((sum, { der }) => sum + der.length, 0));
    return constrained.flatMap((lower) => violationsOf(lower, constraints, certificate));
  });
}

function violationsOf(certificate: Certificate, constraints: Constraints, issuer: Certificate): Violation[] {
  const { subject, known } = certificate;
  const { permitted, excluded } = constraints;
  const alternative = <K extends GeneralName['kind']>(kind: K) =>
    known.subjectAltNames.filter((name): name is Extract<GeneralName, { kind: K }> => name.kind === kind);
  const directories = [subject, ...alternative('directory').map(({ name }) => name)].filter(
    ({ relativeNames }) => relativeNames.length > 0,
  );
  // The mailbox in a subject counts even if there are alternative names, which RFC 5280 does not require.
  const mailboxes = [...subject.mailboxes, ...alternative('email').map(({ value }) => value)];
  const isConstrained = (kind: string) => permitted.kinds.has(kind) || excluded.kinds.has(kind);
  const isForbidden = <T>(name: T, kind: string, isIn: (name: T, bases: Bases) => boolean) =>
    (permitted.kinds.has(kind) && !isIn(name, permitted)) || isIn(name, excluded);
  const forbidden = [
    ...directories.filter((name) => isForbidden(name, 'directory', isDirectoryIn)).map(({ text }) => text),
    ...mailboxes
      .filter((name) => isForbidden(name, 'email', isMailboxIn) || (isConstrained('email') && !MAILBOX.test(name)))
      .map(printable),
  ];
  const violations: Violation[] = forbidden.map((name) => ({
    severity: 'fail',
    message: `the name constraints of ${issuer.subject.text} do not allow the name ${name}`,
  }));
  const isOpen = known.subjectAltNames.some(
    (name) => name.kind !== 'directory' && name.kind !== 'email' && isConstrained(kindOf(name)),
  );
  if (isOpen) {
    const message = `${subject.text} has names of a type that ${issuer.subject.text} constrains and that this verifier does not evaluate`;
    violations.push({ severity: 'unsure', message });
  }
  return violations;
}

function isDirectoryIn({ relativeNames }: NameForm, { directories }: Bases): boolean {
  return [...directories].some(
    ([length, bases]) => length <= relativeNames.length && bases.has(keyOf(relativeNames.slice(0, length))),
  );
}

/** The forms of relative names are JSON, so they contain no line break. */
function keyOf(relativeNames: readonly string[]): string {
  return relativeNames.join('\n');
}

/** Whether a mailbox is one of the bases, at a host that is one, or below a domain that is one. */
function isMailboxIn(mailbox: string, { mailboxes }: Bases): boolean {
  const form = withFoldedHost(mailbox);
  const host = form.slice(form.lastIndexOf('@') + 1);
  return [...mailboxes].some(([length, bases]) => {
    const end = form.slice(-length);
    return bases.has(end) && (length >= form.length || length === host.length || end.startsWith('.'));
  });
}

/** Lower-cases the host of a mailbox; the part before @ is case-sensitive (RFC 5280 §7.5). */
function withFoldedHost(mailbox: string): string {
  const at = mailbox.lastIndexOf('@') + 1;
  return mailbox.slice(0, at) + mailbox.slice(at).toLowerCase();
}

function kindOf(name: GeneralName): string {
  return name.kind === 'other' ? `other ${name.tag}` : name.kind;
}

function parseNameConstraints(node: Asn1Node): Constraints {
  const fields = new Fields(node, 'nameConstraints');
  const permitted = fields.optional(context(0));
  const excluded = fields.optional(context(1));
  fields.finish();
  return { permitted: subtrees(permitted), excluded: subtrees(excluded) };
}

/** GeneralSubtrees; minimum and maximum, which RFC 5280 leaves unused, are refused. */
function subtrees(node: Asn1Node | undefined): Bases {
  const names = (node === undefined ? [] : childrenOf(node)).map((item) => {
    const fields = new Fields(item, 'generalSubtree');
    const base = parseGeneralName(fields.requiredAny('base'));
    fields.finish();
    return base;
  });
  const directories = new Map<number, Set<string>>();
  const mailboxes = new Map<number, Set<string>>();
  const add = (bases: Map<number, Set<string>>, length: number, key: string) =>
    bases.set(length, (bases.get(length) ?? new Set<string>()).add(key));
  for (const name of names) {
    if (name.kind === 'directory') add(directories, name.name.relativeNames.length, keyOf(name.name.relativeNames));
    if (name.kind === 'email') add(mailboxes, name.value.length, withFoldedHost(name.value));
  }
  return { directories, mailboxes, kinds: new Set(names.map(kindOf)) };
}
