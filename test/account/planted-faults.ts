import { openAccount } from '../../sdk/account/account.js';
import type { AccountModule } from '../../sdk/core/account.js';

/** What is wrong in an SDK or service, for sequences that must find it. */
export interface Fault {
  readonly accounts?: AccountModule;
  /** Whether the service believes the scope that a browser claims. */
  readonly believesScope?: boolean;
}

const NOTHING_ASKED = { asked: [['analytics', 'marketing'], []], exempt: [] };

/** A slot without a choice counts as a permission. */
const emptySlot: AccountModule = {
  openAccount: (person, ports) =>
    openAccount(person, {
      ...ports,
      service: {
        now: () => ports.service.now(),
        get: async (path, guard, headers) => {
          const answer: unknown = await ports.service.get(path, guard, headers);
          const isEmpty = JSON.stringify(answer) === '{"consents":[]}';
          const accepted = {
            consent_token: 'ct_none',
            proof_hash: '',
            created_at: new Date(0).toISOString(),
            consent_type: 'cookie',
            decision: 'accepted',
            categories: { necessary: true, analytics: true, marketing: true },
            document_version_id: 'v1',
            language: 'en',
            valid_until: null,
            ask_again_at: null,
            ...NOTHING_ASKED,
          };
          const filled: unknown = isEmpty ? { consents: [accepted] } : answer;
          if (!guard(filled)) throw new Error('not a status');
          return filled;
        },
      },
    }),
};

/** Signing out gives a permission back that is older than a refusal. */
const signOut: AccountModule = {
  openAccount: (person, ports) => openAccount(person, { ...ports, replace: () => undefined }),
};

export const FAULTS: readonly { readonly name: string; readonly fault: Fault }[] = [
  { name: 'an empty slot permits', fault: { accounts: emptySlot } },
  { name: 'signing out gives back what was refused', fault: { accounts: signOut } },
  { name: 'a forged scope counts', fault: { believesScope: true } },
];
