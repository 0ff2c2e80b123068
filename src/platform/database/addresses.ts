const CONNECTION_STRING = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)((?:[/?#].*)?)$/is;

/**
 * Returns the connection strings of the single servers that a connection string names, in its order. A list
 * of hosts is written as for libpq: `postgresql://user@a:5432,b:5432/database`.
 */
export function addressesOf(url: string): readonly string[] {
  const parts = CONNECTION_STRING.exec(url);
  if (parts === null) return [url];
  const [, before = '', hosts = '', after = ''] = parts;
  return hosts.split(',').map((host) => `${before}${host}${after}`);
}
