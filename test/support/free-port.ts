import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns a port of 127.0.0.1 on which nothing listens. It is none that Linux gives to connections or to
 * servers that ask for any port: another process would take it before its server does.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(randomInt(11_000, 32_768), '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
