import type { z } from 'zod';
import type { ErrorCode } from '../../../schemas/api/error-codes.js';
import type { NoBody } from '../../../schemas/api/panel/common.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Role } from '../../accounts/users/user-directory.js';

/** Who may read: everybody who can use the panel at all. */
export const READERS: readonly Role[] = ['owner', 'admin', 'dpo', 'viewer'];
/** Who sets up sites, keys, texts and banners. */
export const EDITORS: readonly Role[] = ['owner', 'admin'];
/** Who reads of people who use the panel: users, invitations, changes. A viewer need not know everybody else's address. */
export const OVERSEERS: readonly Role[] = ['owner', 'admin', 'dpo'];
/** Who sees personal data, exports and erases. */
export const PROTECTORS: readonly Role[] = ['owner', 'dpo'];

/** What a route of the panel takes, answers and allows: the one source of its checks, its types and its description. */
export interface PanelOperation<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> {
  /** `operationId` of the description, e.g. `createSite`. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below /api/v1, e.g. `/sites/{site_id}`. A site in the path belongs to the user's tenant, or the answer is 404. */
  readonly path: string;
  /** Group of the description, e.g. `Sites`. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly roles: readonly Role[];
  readonly params: P;
  readonly query: Q;
  /** `NoBody` where the route takes none. */
  readonly body: B;
  /** A body that the schema takes, as the documentation shows it. */
  readonly example?: JsonObject;
  /** Bytes; 64 KiB unless given. */
  readonly bodyLimit?: number;
  readonly status: 200 | 201 | 202;
  /** Of the JSON answer. */
  readonly response: R;
  /** For answers that are not JSON: what they are instead. */
  readonly download?: { readonly mediaType: string; readonly description: string };
  /** Beside those that come with every route of the panel. */
  readonly errors: readonly ErrorCode[];
  /** How the audit log calls the change, e.g. `site.create`; null for what changes nothing. */
  readonly action: string | null;
}

/** What takes a body shows one. */
type Example<B extends z.ZodType> = typeof NoBody extends B
  ? { readonly example?: never }
  : { readonly example: z.input<B> };

/** Keeps the types of an operation's schemas. */
export function operation<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  definition: PanelOperation<P, Q, B, R> & Example<B>,
): PanelOperation<P, Q, B, R> {
  return definition;
}
