import type { JsonObject } from '../../../schemas/json/json-value.js';

/** Who made a change: a user of the panel, whoever runs the commands of the installation, or the service by itself. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'operator' }
  | { readonly kind: 'service' };

/** What was changed, e.g. `site` and its id. Of consents: event ids only. */
export interface AuditSubject {
  readonly kind: string;
  readonly id: string;
}

/** One line of the audit log. */
export interface AuditEntry {
  /** Null: of the installation. */
  readonly tenantId: string | null;
  readonly actor: Actor;
  /** `<subject>.<verb>`, e.g. `site.create`. */
  readonly action: string;
  readonly subject: AuditSubject;
  /** What helps to understand the change: names of members, numbers, states. Never a secret, nor a datum of a data subject. */
  readonly details: JsonObject;
}
