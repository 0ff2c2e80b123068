import type { QueueMail } from '../../accounts/mail/mail-queue.js';
import type { Role, SignedInUser } from '../../accounts/users/user-directory.js';
import type { Actor } from '../../platform/audit-log.js';
import type { Operator, PanelCaller } from '../server/caller.js';
import { PANEL_ROLES } from '../server/operation.js';

/** Roles that may read: every role of the panel. */
export const READERS: readonly Role[] = PANEL_ROLES;
/** Roles that may set up sites, keys, documents and banners. */
export const EDITORS: readonly Role[] = ['owner', 'admin'];
/**
 * Roles that may read users, invitations and the audit log. A viewer does not see the e-mail
 * addresses of other users.
 */
export const OVERSEERS: readonly Role[] = ['owner', 'admin', 'dpo'];
/** Roles that may see, export and erase personal data. */
export const PROTECTORS: readonly Role[] = ['owner', 'dpo'];

/** An operator in a tenant. */
export function operatorOf(tenantId: string): Operator {
  return { id: null, signInId: null, tenantId, email: 'the operator of the service', role: 'owner' };
}

/** The caller as the audit log names it. */
export function actorOf({ id }: PanelCaller): Actor {
  return id === null ? { kind: 'operator' } : { kind: 'user', userId: id };
}

/**
 * The user who calls an operation with `isForUsers`.
 * @throws Error for an operator, to whom the command line does not offer the operation
 */
export function signedIn(caller: PanelCaller): SignedInUser {
  if (caller.id === null) throw new Error('an operator called an operation for users');
  return caller;
}

/**
 * Returns the queue for mails with a token that the caller created, or null for an operator, who receives the token and
 * passes it on in person.
 * @param queueMail queues a mail; null if the service sends no mail
 */
export function tokenMail(caller: PanelCaller, queueMail: QueueMail | null): QueueMail | null {
  return caller.id === null ? null : queueMail;
}
