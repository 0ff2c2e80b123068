import type { z } from 'zod';
import { checkpointLinks } from '../../../../schemas/api/checkpoints.js';
import type { ConsentResponse, ConsentsPage } from '../../../../schemas/api/panel/consents.js';
import { consentToken } from '../../../../schemas/events/consent-recorded.js';
import type { ConsentRow } from '../../../evidence/records/consent-row.js';
import { columnsAgree, readRecord } from '../../../evidence/verification/check-record.js';
import { isProofHashOf, KeyError, type ProofKeys } from '../../../platform/keys/index.js';
import { stampedBy } from '../../../timestamping/authority-name.js';

type Summary = z.infer<typeof ConsentsPage>['data'][number];
type Shown = z.infer<typeof ConsentResponse>['data'];

/** A record as lists show it, with its integrity checked against its proof hash. */
export async function summaryOf(row: ConsentRow, proofKeys: ProofKeys, now: Date): Promise<Summary> {
  const record = readRecord(row.record);
  const isHashValid = record !== null && (await matchesProofHash(row, record.proof_key_id, proofKeys));
  return {
    id: row.event_id,
    consent_token: consentToken(row.event_id),
    proof_hash: row.proof_hash,
    record,
    document_slug: row.slug,
    is_intact: isHashValid && columnsAgree(row, record),
    is_anonymized: row.erased_by !== null || !row.has_key,
    is_expired: row.valid_until !== null && row.valid_until <= now,
    state: row.checkpoint_size !== null ? 'stamped' : row.batch !== null ? 'sealed' : 'recorded',
  };
}

async function matchesProofHash(row: ConsentRow, keyId: string, proofKeys: ProofKeys): Promise<boolean> {
  try {
    const { key } = await proofKeys.proofKeyById(keyId);
    return isProofHashOf(row.record, row.proof_hash, key);
  } catch (error) {
    if (error instanceof KeyError && error.code === 'key_missing') return false;
    throw error;
  }
}

/** How far a record is sealed and stamped, according to the tables. */
export function sealingOf(row: ConsentRow): Shown['sealing'] {
  const { checkpoint_size: size, gen_time: genTime, authorities, tokens, is_development } = row;
  return {
    batch: row.batch,
    index: row.index,
    sealed_at: row.sealed_at?.toISOString() ?? null,
    checkpoint:
      size === null || genTime === null || authorities === null || tokens === null
        ? null
        : {
            size,
            gen_time: genTime.toISOString(),
            authorities: stampedBy({ authorities, is_development }),
            ...checkpointLinks(size, tokens),
          },
  };
}
