import { timingSafeEqual } from 'node:crypto';
import { consentsStream } from '../../../schemas/events/streams.js';
import { assertGenuine, hmacSha256, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import type { SealedEntry } from './entry-reader.js';
import { ExportFailed } from './errors.js';

/**
 * Checks proof hashes. An event that was altered before sealing agrees with the ledger, and only
 * its proof hash reveals the alteration.
 */
export class GenuineEvents {
  readonly #keys = new Map<string, Uint8Array>();

  constructor(readonly keyring: ProofKeys) {}

  /**
   * Checks the proof hash of each entry.
   * @throws ExportFailed `proof-hash-differs` if an event differs from what the service wrote
   */
  async assertAll(entries: readonly SealedEntry[]): Promise<void> {
    for (const entry of entries) {
      if (this.#isGenuineConsent(entry)) continue;
      // The full check covers every event type and names the defect.
      await this.#assert(entry);
      await this.#remember(entry);
    }
  }

  /**
   * Fast check of a parsed consent whose key is cached.
   * @returns false if the full check must decide
   */
  #isGenuineConsent({ event, consent }: SealedEntry): boolean {
    const key = consent === null ? undefined : this.#keys.get(consent.record.proof_key_id);
    if (consent === null || key === undefined) return false;
    const { body, record } = consent;
    if (record.event_id !== event.id || event.stream !== consentsStream(record.site_id)) return false;
    return timingSafeEqual(hmacSha256(key, body.record), Buffer.from(body.proof_hash, 'hex'));
  }

  async #assert({ event }: SealedEntry): Promise<void> {
    try {
      await assertGenuine(event, this.keyring);
    } catch (error) {
      if (!(error instanceof NotGenuine)) throw error;
      throw new ExportFailed('proof-hash-differs', error.message, { cause: error });
    }
  }

  async #remember({ consent }: SealedEntry): Promise<void> {
    if (consent === null || this.#keys.has(consent.record.proof_key_id)) return;
    const { id, key } = await this.keyring.proofKeyById(consent.record.proof_key_id);
    this.#keys.set(id, key);
  }
}
