import type { JsonObject } from '../../../schemas/json/json-value.js';

/**
 * The author of a change: a user of the panel, an operator on the command line, or the service
 * itself.
 */
export type Actor =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'operator' }
  | { readonly kind: 'service' };

/** The changed object, e.g. `site` and its id. Consents are named only by their event ids. */
export interface AuditSubject {
  readonly kind: string;
  readonly id: string;
}

/** One entry of the audit log. */
export interface AuditEntry {
  /** Null: the change concerns the installation. */
  readonly tenantId: string | null;
  readonly actor: Actor;
  /** `<subject>.<verb>`, e.g. `site.create`. */
  readonly action: string;
  readonly subject: AuditSubject;
  /**
   * Details that explain the change: names of members, numbers, states. Never a secret or personal
   * data of a data subject.
   */
  readonly details: JsonObject;
}
