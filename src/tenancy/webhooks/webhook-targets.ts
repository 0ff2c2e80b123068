import { isIP, type LookupFunction } from 'node:net';
import { isSpecialAddress } from '../../platform/net/addresses.js';
import { createReach, HostRefused, type LookUpHost, withoutBrackets } from '../../platform/net/reach.js';

/**
 * Decides where webhooks may lead. The tenant chooses the URL, which must not make the service reach into its own
 * network. It permits public addresses over `https`, and addresses in networks that the operator lists over `http` as
 * well.
 */
export interface WebhookTargets {
  /**
   * Returns the look-up for the connection of a delivery, which yields only addresses that may be reached.
   * @throws HostRefused if the host is an address that may not be reached
   */
  lookupOf(url: URL): LookupFunction;
  /**
   * Refuses, when it is entered, a URL that no delivery could use. If the look-up of a name fails for a reason other
   * than that it does not exist, the URL is accepted, because each delivery checks again.
   * @throws HostRefused with the reason
   */
  refuse(url: URL): Promise<void>;
}

/** Concurrent look-ups of entered names. A slow one occupies a thread that other work needs. */
const MAX_LOOK_UPS = 2;
const NO_TLS = 'the URL is not https';

/** @param allowedNetworks non-public networks that may be reached anyway, over `http` as well */
export function createWebhookTargets(allowedNetworks: readonly string[], lookUp?: LookUpHost): WebhookTargets {
  const reach = createReach(allowedNetworks, lookUp);
  let lookUps = 0;
  const accepts =
    ({ protocol }: URL) =>
    (address: string): boolean =>
      protocol !== 'http:' || isSpecialAddress(address);
  const lookupOf = (url: URL): LookupFunction => {
    const host = withoutBrackets(url.hostname);
    reach.refuseAddress(host);
    if (isIP(host) !== 0 && !accepts(url)(host)) throw new HostRefused(NO_TLS);
    return reach.lookup(accepts(url));
  };
  return {
    lookupOf,
    refuse: async (url) => {
      // If no networks are listed, no address may be reached without TLS.
      if (url.protocol === 'http:' && allowedNetworks.length === 0) throw new HostRefused(NO_TLS);
      lookupOf(url);
      const name = withoutBrackets(url.hostname);
      if (isIP(name) !== 0 || lookUps >= MAX_LOOK_UPS) return;
      lookUps += 1;
      try {
        if (await reach.isOutOfReach(name, accepts(url)))
          throw new HostRefused(url.protocol === 'http:' ? NO_TLS : undefined);
      } finally {
        lookUps -= 1;
      }
    },
  };
}
