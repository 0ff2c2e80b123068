import type { Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../platform/config/index.js';

/**
 * Connections that may wait to be accepted: what Linux allows unless it is told otherwise
 * (`net.core.somaxconn`). With the 511 of Node, a page's many first visitors waited for a second or
 * more, until their systems asked again.
 */
const BACKLOG = 4096;

/**
 * Listens on the configured host and port.
 * @returns the URL
 * @throws Error that names the variable to change
 */
export async function listen(app: FastifyInstance, { host, port }: Config['http']): Promise<string> {
  try {
    return await app.listen({ host, port, backlog: BACKLOG });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} of ${host} is in use. Set PORT to a free port, or to 0 for any free port.`, {
        cause,
      });
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new Error(`Cannot listen on ${host}, port ${port} (${code}). Change HOST or PORT.`, { cause });
    }
    throw cause;
  }
}

/**
 * Accepts connections from the socket of a server of another process too. The system gives each
 * connection to one of the processes that are not busy.
 * @param app must be ready
 */
export function listenOn(app: FastifyInstance, server: Server): void {
  app.server.listen(server, BACKLOG);
}
