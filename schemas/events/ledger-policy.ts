import * as z from 'zod';
import { parseWitnessKey } from '../evidence/cosignature.js';
import { Count, HttpsLink, Instant, KeyLine, PlainName, Uuid } from '../evidence/primitives.js';

export const LEDGER_POLICY_SET = 'LedgerPolicySet.v1';

/** Longest delay that a policy may state, in seconds: 48 h. */
export const MAX_POLICY_DELAY_SECONDS = 172_800;

/** Authorities of which an operator states that their time stamps are qualified, each with the list that says so. */
export const QualifiedStamps = z
  .array(
    z.strictObject({
      /** An attribute O of the root certificate's subject. */
      organization: PlainName,
      /** Link to the trusted list (Regulation (EU) No 910/2014, Article 22). */
      trusted_list: HttpsLink,
    }),
  )
  .min(1)
  .max(16);
export type QualifiedStamps = z.infer<typeof QualifiedStamps>;

/**
 * The promises of a ledger to its readers. They apply from the Merkle batch that contains the event until the next
 * event of this type.
 */
export const LedgerPolicySetRecord = z
  .strictObject({
    v: z.literal(1),
    event_id: Uuid,
    created_at: Instant,
    /** 1 for the first policy of the ledger; the revision in the stream `policy` plus 1. */
    number: z.int().min(1),
    /** Largest delay from `created_at` of a record to `sealed_at` of its batch. */
    seal_within_seconds: z.int().min(1).max(MAX_POLICY_DELAY_SECONDS),
    /** Largest delay from sealing to the time stamp. */
    stamp_within_seconds: z.int().min(1).max(MAX_POLICY_DELAY_SECONDS),
    /** Number of distinct time stamp authorities that stamp each checkpoint. */
    stamps: z.int().min(1).max(16),
    /** One verifier-key line for each witness (type 0x04 or 0x06), sorted. */
    witnesses: z
      .array(KeyLine.refine((line) => parseWitnessKey(line) !== null, 'must be the verifier-key line of a witness'))
      .max(64)
      .refine((keys) => keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') < key), 'must be sorted and unique'),
    /** Number of witnesses that cosign each checkpoint. */
    witnesses_required: Count,
    /** Hash algorithm of all trees. */
    tree_hash: z.literal('sha256'),
    /** Legal entity that operates the ledger, as it states itself. Nobody checks it. */
    operator: z.strictObject({ legal_name: PlainName }).exactOptional(),
    /** A statement of the operator, which nobody checks. */
    qualified_stamps: QualifiedStamps.exactOptional(),
  })
  .refine(({ witnesses, witnesses_required: required }) => required <= witnesses.length, {
    path: ['witnesses_required'],
    error: 'must be at most the number of witnesses',
  });
export type LedgerPolicySetRecord = z.infer<typeof LedgerPolicySetRecord>;

/** What an operator states of itself and of the authorities. */
export type OperatorStatements = Pick<LedgerPolicySetRecord, 'operator' | 'qualified_stamps'>;

/** The delays that apply to batches before the first policy, in seconds. */
export const DEFAULT_POLICY_DELAYS = { sealWithinSeconds: 600, stampWithinSeconds: 3600 } as const;
