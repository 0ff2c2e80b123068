import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ObtainedTimestamp } from '../../timestamping/client.js';

/** Sorted SHA-256 digests, in hex, of the evidence gathered with a time stamp. */
export interface EvidenceDigests {
  readonly certificates: string[];
  readonly crls: string[];
  readonly ocsp: string[];
}

/**
 * Stores the evidence of a time stamp before the event that names it, so the bytes exist whenever
 * the event exists.
 */
export async function storeEvidence(db: Queryable, stamp: ObtainedTimestamp): Promise<EvidenceDigests> {
  return {
    certificates: await store(db, 'certificate', stamp.certificates),
    crls: await store(db, 'crl', stamp.crls),
    ocsp: await store(db, 'ocsp', stamp.ocspResponses),
  };
}

async function store(
  db: Queryable,
  kind: 'certificate' | 'crl' | 'ocsp',
  items: readonly Uint8Array[],
): Promise<string[]> {
  const bySha256 = new Map(items.map((bytes) => [toHex(sha256(bytes)), bytes]));
  const digests = [...bySha256.keys()].sort();
  await db.query(
    `insert into timestamp_evidence (sha256, kind, bytes)
     select sha256, $2, bytes from unnest($1::text[], $3::bytea[]) as given (sha256, bytes)
     on conflict (sha256) do nothing`,
    [digests, kind, digests.map((digest) => bySha256.get(digest))],
  );
  return digests;
}
