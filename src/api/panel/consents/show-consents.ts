import type * as z from 'zod';
import { checkpointLinks } from '../../../../schemas/api/checkpoints.js';
import type { ConsentResponse, ConsentsPage } from '../../../../schemas/api/panel/consents.js';
import { consentToken } from '../../../../schemas/events/consent-recorded.js';
import type { ConsentRow } from '../../../evidence/records/consent-row.js';
import type { LoggedRecord } from '../../../evidence/verification/logged-record.js';
import { columnsAgree } from '../../../evidence/verification/stored-record.js';
import { findProofKey, isProofHashOf, type ProofKeys } from '../../../platform/keys/index.js';
import { stampedBy } from '../../../timestamping/authorities.js';

type Summary = z.infer<typeof ConsentsPage>['data'][number];
type Shown = z.infer<typeof ConsentResponse>['data'];

/**
 * A record as lists show it, with its integrity checked against its proof hash.
 * @param logged the record in the log, which is what is shown; null: the row or the event was altered
 */
export async function summaryOf(
  row: ConsentRow,
  logged: LoggedRecord | null,
  proofKeys: ProofKeys,
  now: Date,
): Promise<Summary> {
  return {
    id: row.event_id,
    consent_token: consentToken(row.event_id),
    proof_hash: row.proof_hash,
    record: logged?.record ?? null,
    document_slug: row.slug,
    is_intact: logged !== null && (await isIntact(row, logged, proofKeys)),
    is_anonymized: row.erased_by !== null || !row.has_key,
    is_expired: row.valid_until !== null && row.valid_until <= now,
    state: row.checkpoint_size !== null ? 'stamped' : row.batch !== null ? 'sealed' : 'recorded',
  };
}

async function isIntact(row: ConsentRow, { text, record }: LoggedRecord, proofKeys: ProofKeys): Promise<boolean> {
  const found = record === null ? null : await findProofKey(proofKeys, record.proof_key_id);
  if (record === null || found === null) return false;
  return isProofHashOf(text, row.proof_hash, found.key) && columnsAgree(row, record);
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
