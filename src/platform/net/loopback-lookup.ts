import { lookup as lookUpHost } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopback, withoutBrackets } from './hosts.js';
import { HostRefused, type LookUpHost } from './reach.js';

const NOT_LOOPBACK = 'the host is not this machine';

/**
 * Checks that a URL leads to this machine: 127.0.0.0/8, ::1, or a name of such addresses alone.
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
 * The look-up for a connection to this machine alone. It yields the addresses that it checked, so that no other
 * can be connected to.
 * @throws HostRefused if the host is another address
 */
export function loopbackLookup(url: URL, lookUp: LookUpHost = lookUpHost): LookupFunction {
  const host = withoutBrackets(url.hostname);
  // No look-up is made for an address.
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
