/** The host of a URL as programs other than browsers write it: an IPv6 address without its brackets. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** Whether a host is this machine alone: to listen on, or to connect to. @param host without brackets */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
