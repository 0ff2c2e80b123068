import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';

/** The witnesses that must have cosigned a checkpoint (c2sp.org/tlog-policy, “Defining the quorum”). */
export type Quorum =
  | { readonly kind: 'witness'; readonly name: string; readonly key: VerifierKey }
  | {
      readonly kind: 'group';
      readonly name: string;
      /** How many members must have cosigned, from 1 to the number of members. */
      readonly threshold: number;
      /** No witness is in two of the members. */
      readonly members: readonly Quorum[];
    };

/** Returns whether the witnesses that cosigned a checkpoint meet the quorum. */
export function isQuorumMet(quorum: Quorum, hasCosigned: (key: VerifierKey) => boolean): boolean {
  if (quorum.kind === 'witness') return hasCosigned(quorum.key);
  return quorum.members.filter((member) => isQuorumMet(member, hasCosigned)).length >= quorum.threshold;
}

/** The smallest number of witnesses that can meet a quorum. */
export function fewestWitnesses(quorum: Quorum): number {
  if (quorum.kind === 'witness') return 1;
  const fewest = quorum.members.map(fewestWitnesses).sort((a, b) => a - b);
  return fewest.slice(0, quorum.threshold).reduce((sum, count) => sum + count, 0);
}

/** The witnesses that the relying party trusts. */
export interface WitnessTrust {
  /** Keys of type 0x04 and 0x06, each public key once. Keys of the same name belong to one witness. */
  readonly keys: readonly VerifierKey[];
  /**
   * How many witnesses must have cosigned the newest checkpoint. If null, as many as the ledger's policy requires, or
   * any number if the policy requires none.
   */
  readonly required: number | null;
  /** The rule that these witnesses must meet. `required` is the smallest number of witnesses that can meet it. */
  readonly quorum?: Quorum;
}
