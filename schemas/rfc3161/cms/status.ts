import { Fields, listOf, TAG } from '../asn1/fields.js';
import type { Asn1Node } from '../asn1/reader.js';
import { namedBits, smallInteger } from '../asn1/values.js';
import { MalformedInput } from '../errors.js';
import { printable } from '../x509/names.js';

/** PKIStatusInfo of a TimeStampResp (RFC 3161 §2.4.2). */
export interface ResponseStatus {
  /** 0 granted, 1 granted with modifications, 2 rejection, 3 waiting, 4 and 5 about revocation. */
  readonly status: number;
  /** Free text of the authority, safe to print. */
  readonly text: string;
  /** Names of the failure bits that are set. */
  readonly failures: readonly string[];
}

const FAILURES: ReadonlyMap<number, string> = new Map([
  [0, 'badAlg'],
  [2, 'badRequest'],
  [5, 'badDataFormat'],
  [14, 'timeNotAvailable'],
  [15, 'unacceptedPolicy'],
  [16, 'unacceptedExtension'],
  [17, 'addInfoNotAvailable'],
  [25, 'systemFailure'],
]);

/** @throws MalformedInput */
export function parseStatus(node: Asn1Node): ResponseStatus {
  const fields = new Fields(node, 'status');
  const status = smallInteger(fields.required(TAG.integer, 'status'), 'status');
  const textNode = fields.optional(TAG.sequence);
  const failureNode = fields.optional(TAG.bitString);
  fields.finish();
  const texts = textNode === undefined ? [] : listOf(textNode, TAG.sequence, 'statusString');
  const failures = failureNode === undefined ? [] : [...namedBits(failureNode.content, 'failInfo')];
  if (texts.length > 16) throw new MalformedInput('too-many', 'statusString has too many texts');
  return {
    status,
    text: printable(texts.map((text) => new TextDecoder('utf-8').decode(text.content)).join(' ')),
    failures: failures.map((bit) => FAILURES.get(bit) ?? `bit ${bit}`),
  };
}
