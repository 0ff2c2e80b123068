import { type LookupAddress, type LookupOptions, lookup as lookUpHost } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createAddressCheck, isSpecialAddress } from './addresses.js';

/** Returns the host of a URL as programs other than browsers write it: an IPv6 address without brackets. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/**
 * Returns whether a host is only reachable from, or leads only to, this machine.
 * @param host the host without brackets
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Also used for a host that does not exist, because the response must not reveal which internal names exist. */
const NOT_REACHED = 'the host has no public address';

const NO_SUCH_NAME = 'ENOTFOUND';

/** A host that the service must not contact for a tenant. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused';
  constructor(message: string = NOT_REACHED) {
    super(message);
  }
}

/** Finds all addresses of a host name. */
export type LookUpHost = (
  name: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** The addresses to which the service may connect on behalf of a tenant. */
export interface EgressPolicy {
  /** Whether an address is public, or in a network that the operator lists. */
  readonly mayReach: (address: string) => boolean;
  /** Whether an address is in a network that the operator lists. */
  readonly isListed: (address: string) => boolean;
  /** Refuses the host of a URL that is an address and may not be reached. @throws HostRefused */
  readonly refuseAddress: (host: string, accepts?: (address: string) => boolean) => void;
  /**
   * Returns the look-up for a connection. It yields one address that may be reached, so that the checked address is the
   * one that is connected to.
   * @param accepts a further condition on the address
   */
  readonly lookup: (accepts?: (address: string) => boolean) => LookupFunction;
  /**
   * Returns whether a host name leads to no permitted address. A name that does not exist counts as well, so that the
   * response does not reveal which internal names exist. False if the look-up fails in another way.
   */
  readonly isOutOfReach: (name: string, accepts: (address: string) => boolean) => Promise<boolean>;
}

/**
 * Creates the check of addresses. A tenant chooses the URL, which must not make the service reach into its own network.
 * @param allowedNetworks non-public networks that may be reached anyway
 */
export function createReach(allowedNetworks: readonly string[], lookUp: LookUpHost = lookUpHost): EgressPolicy {
  const check = createAddressCheck();
  const isListed = (address: string): boolean => allowedNetworks.length > 0 && check(allowedNetworks, address);
  const mayReach = (address: string): boolean => !isSpecialAddress(address) || isListed(address);
  const any = (): boolean => true;
  // Uses promises, so that an exception while handling a resolver's answer rejects instead of ending the process.
  const addressesOf = (name: string, options: LookupOptions = {}): Promise<readonly LookupAddress[]> =>
    new Promise((resolve, reject) => {
      lookUp(name, { ...options, all: true }, (error, addresses) =>
        error === null ? resolve(addresses) : reject(error),
      );
    });
  return {
    mayReach,
    isListed,
    refuseAddress: (host, accepts = any) => {
      const address = withoutBrackets(host);
      if (isIP(address) !== 0 && !(mayReach(address) && accepts(address))) throw new HostRefused();
    },
    lookup:
      (accepts = any) =>
      (name, options, callback) => {
        addressesOf(name, options)
          .then((addresses) => addresses.find(({ address }) => mayReach(address) && accepts(address)))
          .catch(() => undefined)
          .then((first) => {
            if (first === undefined) callback(new HostRefused(), []);
            else if (options.all === true) callback(null, [first]);
            else callback(null, first.address, first.family);
          });
      },
    isOutOfReach: async (name, accepts) => {
      try {
        return !(await addressesOf(name)).some(({ address }) => mayReach(address) && accepts(address));
      } catch (error) {
        return error instanceof Error && 'code' in error && error.code === NO_SUCH_NAME;
      }
    },
  };
}

const NOT_LOOPBACK = 'the host is not this machine';

/**
 * Checks that a URL leads to this machine: 127.0.0.0/8, ::1, or a name that only has such addresses.
 * @throws HostRefused; errors of the look-up
 */
export function refuseUnlessLoopback(url: URL, lookUp?: LookUpHost): Promise<void> {
  return new Promise((resolve, reject) => {
    loopbackLookup(url, lookUp)(withoutBrackets(url.hostname), { all: true }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

/**
 * Returns the look-up for a connection to this machine. It only yields addresses that it checked, so no other can be
 * connected to.
 * @throws HostRefused if the host is another address
 */
export function loopbackLookup(url: URL, lookUp: LookUpHost = lookUpHost): LookupFunction {
  const host = withoutBrackets(url.hostname);
  // Node makes no look-up for an address.
  if (isIP(host) !== 0 && !isLoopback(host)) throw new HostRefused(NOT_LOOPBACK);
  return (name, options, callback) => {
    lookUp(name, { all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) callback(error, []);
      else if (first === undefined || !addresses.every(({ address }) => isLoopback(address)))
        callback(new HostRefused(NOT_LOOPBACK), []);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}
