import type { QueueMail } from '../../accounts/mail/mail-queue.js';
import type { Role, SignedInUser } from '../../accounts/users/user-directory.js';
import type { Actor } from '../../platform/audit-log.js';

/** An operator on the command line, who may do in a tenant what its owners may. */
export interface Operator {
  readonly id: null;
  readonly signInId: null;
  readonly tenantId: string;
  /** Names the operator in texts. */
  readonly email: string;
  readonly role: Role;
}

/** The caller of an operation of the panel. */
export type Caller = SignedInUser | Operator;

/** An operator in a tenant. */
export function operatorOf(tenantId: string): Operator {
  return { id: null, signInId: null, tenantId, email: 'the operator of the service', role: 'owner' };
}

/** The caller as the audit log names it. */
export function actorOf({ id }: Caller): Actor {
  return id === null ? { kind: 'operator' } : { kind: 'user', userId: id };
}

/**
 * The user who calls an operation with `isForUsers`.
 * @throws Error for an operator, whom the command line does not offer the operation
 */
export function signedIn(caller: Caller): SignedInUser {
  if (caller.id === null) throw new Error('an operator called an operation for users');
  return caller;
}

/**
 * The queue of mails with a token that the caller created: an operator receives the token, and
 * gives it to the person.
 * @param queueMail null: the service sends no mail
 */
export function tokenMail(caller: Caller, queueMail: QueueMail | null): QueueMail | null {
  return caller.id === null ? null : queueMail;
}
