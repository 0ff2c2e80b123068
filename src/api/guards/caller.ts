import type { SignedInUser } from '../../accounts/users/user-directory.js';
import type { ApiKey, SiteContext } from '../../tenancy/directory/site-context.js';

/** By which door a request came. Browsers know the site's API key, so it alone never makes a request `s2s`: the bearer token does. */
export type Channel = 'browser' | 's2s';

/** Who makes a Tool API request, as its credentials prove it. Set before the body is read. */
export interface Caller {
  readonly apiKey: ApiKey;
  /** The key itself: request signatures are made with it. Never logged, never stored. */
  readonly rawApiKey: string;
  readonly site: SiteContext;
  readonly channel: Channel;
  /** The user behind the bearer token of an S2S request. */
  readonly user?: SignedInUser;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every Tool API route before its handler runs. */
    caller: Caller | null;
    /** Set on every route of the panel before its body is read. */
    panelUser: SignedInUser | null;
    /** The exact bytes of the body; empty if there is none. */
    readonly rawBody: Buffer;
  }
}

/**
 * The caller of a Tool API route.
 * @throws Error if the route was registered without its guard: a mistake of ours, never of the caller's
 */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new Error('a Tool API route was registered without its guard');
  return request.caller;
}

/**
 * The user of an S2S request.
 * @throws Error if the route was registered without its guard
 */
export function userOf({ user }: Caller): SignedInUser {
  if (user === undefined) throw new Error('an S2S route was registered without its guard');
  return user;
}
