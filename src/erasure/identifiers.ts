import type { BlindIndexKind } from '../platform/keys/index.js';

/** Whose data, or which, is to be erased. `before`: records older than this moment. */
export type ErasureSubject =
  | { readonly kind: BlindIndexKind; readonly value: string }
  | { readonly kind: 'record'; readonly eventId: string }
  | { readonly kind: 'retention'; readonly before: Date };

/** What callers call each kind of identifier: the name of the field in a consent. */
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

/** What an erasure goes by, as callers and the audit log call it. */
export function nameOfSubject(kind: ErasureSubject['kind']): string {
  if (kind === 'record') return 'record';
  return kind === 'retention' ? 'age' : IDENTIFIERS[kind];
}
