import type { SignedInUser } from '../../accounts/users/user-directory.js';
import type { Caller, SiteContext } from '../../tenancy/directory/site-context.js';

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
     * Address of the client (`src/platform/net/client-address.ts`), for limits, evidence and regions;
     * null if the connection has ended. Fastify's `ip` is not used.
     */
    readonly clientAddress: string | null;
    /** The client for which limits by address count (`src/platform/net/client-address.ts`). */
    readonly countedClient: string;
    /** The network of the client, IPv4 /24 or IPv6 /48 (`src/platform/net/client-address.ts`). */
    readonly countedNetwork: string;
    /** The exact bytes of the body; empty if there is none. */
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
