import { timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import type { Role, SignedInUser } from '../../accounts/users/user-directory.js';
import type { Caller, SiteContext } from '../../tenancy/directory/site-context.js';

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
export type PanelCaller = SignedInUser | Operator;

/** The client of a Tool API request, with the user of an S2S request. */
export interface ToolCaller extends Caller {
  /** The user that the bearer token of an S2S request names. */
  readonly user?: SignedInUser;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every Tool API route before its handler runs. */
    caller: ToolCaller | null;
    /** The site that a request to the public scanner names instead of an API key. */
    scannedSite: SiteContext | null;
    /** Set on every route of the panel before its body is read. */
    panelUser: SignedInUser | null;
    /** Whether a trusted proxy sent the request. */
    readonly isFromProxy: boolean;
    /**
     * Address of the client (`src/platform/net/client-address.ts`), for limits, evidence and regions, or null if the
     * connection has ended. Fastify's `ip` is not used.
     */
    readonly clientAddress: string | null;
    /** What limits by address treat as one client (`src/platform/net/counted-client.ts`). */
    readonly countedClient: string;
    /** The network of the client, IPv4 /24 or IPv6 /48 (`src/platform/net/counted-client.ts`). */
    readonly countedNetwork: string;
    /** The exact bytes of the body. Empty if there is none. */
    readonly rawBody: Buffer;
  }
}

/**
 * The caller of a Tool API route.
 * @throws Error if the route was registered without its guard, which is a programming error
 */
export function callerOf(request: { readonly caller: ToolCaller | null }): ToolCaller {
  if (request.caller === null) throw new Error('a Tool API route was registered without its guard');
  return request.caller;
}

/**
 * The user of an S2S request.
 * @throws Error if the route was registered without its guard
 */
export function userOf({ user }: ToolCaller): SignedInUser {
  if (user === undefined) throw new Error('an S2S route was registered without its guard');
  return user;
}

/**
 * Requires that a request has one of the given bearer tokens.
 * @param authorization the header
 * @param digests SHA-256 digests of the tokens, 32 bytes each
 * @throws ApiError MISSING_BEARER_TOKEN, INVALID_BEARER_TOKEN
 */
export function requireBearerToken(authorization: string | undefined, digests: readonly Uint8Array[]): void {
  if (authorization === undefined) throw new ApiError('MISSING_BEARER_TOKEN');
  const given = sha256(utf8(/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''));
  // All digests are compared, and all have the same length, so the time reveals nothing about the tokens.
  const matches = digests.filter((digest) => timingSafeEqual(given, digest));
  if (matches.length === 0) throw new ApiError('INVALID_BEARER_TOKEN');
}
