import type { BlindIndexKind } from '../platform/keys/index.js';

/** The data to erase: of a person, one record, or (`before`) all records older than a time. */
export type ErasureSubject =
  | { readonly kind: BlindIndexKind; readonly value: string }
  | { readonly kind: 'record'; readonly eventId: string }
  | { readonly kind: 'retention'; readonly before: Date };

/** The public name of each kind of identifier: the field of a consent. */
export const IDENTIFIERS = {
  visitor: 'visitor_id',
  email: 'signer_email',
  phone: 'signer_phone',
  id_number: 'signer_id_number',
} as const satisfies Readonly<Record<BlindIndexKind, string>>;
/** The blind index of each identifier. */
export const IDENTIFIER_KINDS = {
  visitor_id: 'visitor',
  signer_email: 'email',
  signer_phone: 'phone',
  signer_id_number: 'id_number',
} as const;

/** The criterion of an erasure, as the API and the audit log name it. */
export function nameOfSubject(kind: ErasureSubject['kind']): string {
  if (kind === 'record') return 'record';
  return kind === 'retention' ? 'age' : IDENTIFIERS[kind];
}
