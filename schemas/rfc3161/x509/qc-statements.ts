import { Fields, listOf, TAG } from '../asn1/fields.js';
import { type Asn1Node, readSingle } from '../asn1/reader.js';
import { oidValue } from '../asn1/values.js';
import { attempt, MalformedInput } from '../errors.js';

/**
 * Arcs of statements that declare how a certificate was issued and restrict no use of its key in
 * time stamping: RFC 3739 §3.2.6.1, ETSI EN 319 412-5, ETSI EN 319 412-1 and the national PKI of
 * Ukraine.
 */
const DECLARATIONS = ['1.3.6.1.5.5.7.11.', '0.4.0.1862.1.', '0.4.0.194121.1.', '1.2.804.2.1.1.1.'];

/**
 * Why the statements of a critical qcStatements extension are not all understood (RFC 3739
 * §3.2.6: if the extension is critical, all its statements are).
 * @param value the octets inside extnValue
 * @returns null if all are understood; otherwise the end of a sentence
 */
export function unknownQcStatements(value: Uint8Array): string | null {
  const ids = attempt(() => listOf(readSingle(value), TAG.sequence, 'qcStatements').map(statementId));
  if (ids instanceof MalformedInput) return 'cannot be read';
  const unknown = ids.filter((id) => !DECLARATIONS.some((arc) => id.startsWith(arc)));
  return unknown.length === 0 ? null : `this verifier does not know: ${unknown.slice(0, 4).join(', ')}`;
}

/** QCStatement ::= SEQUENCE { statementId, statementInfo OPTIONAL } */
function statementId(node: Asn1Node): string {
  const fields = new Fields(node, 'qcStatement');
  const id = oidValue(fields.required(TAG.oid, 'statementId'), 'statementId');
  if (!fields.atEnd()) fields.requiredAny('statementInfo');
  fields.finish();
  return id;
}
