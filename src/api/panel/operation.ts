import type * as z from 'zod';
import type { NoBody } from '../../../schemas/api/panel/common.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Role } from '../../accounts/users/user-directory.js';
import { OPEN, type Operation, PANEL_ROLES } from '../server/operation.js';

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

/** An operation of the panel as its file states it. */
type Definition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType> = Omit<
  Operation<P, Q, B, R>,
  'access' | 'example'
> & {
  /** Roles that may call it. */
  readonly roles: readonly Role[];
} & Example<B>;

/** An operation with a body shows an example of it. */
type Example<B extends z.ZodType> = typeof NoBody extends B
  ? { readonly example?: never }
  : { readonly example: z.input<B> & JsonObject };

const PREFIX = '/api/v1';

/**
 * An operation of the panel: a bearer token of a user with one of the roles, and a rate limit for
 * each user.
 * @param definition its path is below /api/v1; a `{site_id}` in it must be a site of the user's
 *   tenant
 */
export function operation<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  definition: Definition<P, Q, B, R>,
): Operation<P, Q, B, R> {
  const { roles, example, path, ...rest } = definition;
  return {
    ...rest,
    path: `${PREFIX}${path}`,
    access: { ...OPEN, roles, limit: 'user' },
    example: example === undefined || example === null ? {} : { body: example },
  };
}
