import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { LookUpHost } from '../../../src/platform/net/reach.js';
import type { Visitor } from '../../../src/tenancy/scans/visit.js';

/** A visitor who has not chosen, and whose browser sends no signal. */
export const NEW_VISITOR: Visitor = { cookie: null, isSignalled: false };

/** A web server of a test, and the paths that were requested from it. */
export interface TestSite {
  readonly port: number;
  readonly asked: {
    readonly path: string;
    readonly host: string;
    readonly cookie: string | undefined;
    readonly signal: string | undefined;
  }[];
  close(): Promise<void>;
}

export async function startSite(
  address: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<TestSite> {
  const asked: TestSite['asked'] = [];
  const server: Server = createServer((request, response) => {
    const { host = '', cookie, 'sec-gpc': signal } = request.headers;
    asked.push({ path: request.url ?? '', host, cookie, signal: signal?.toString() });
    answer(request, response);
  });
  server.listen(port, address);
  await new Promise((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    asked,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A look-up with fixed addresses; each look-up of a name takes the next of its answers, and then the last. */
export function fixedLookUp(names: Readonly<Record<string, readonly string[]>>): LookUpHost {
  const used = new Map<string, number>();
  return (name, _options, callback) => {
    const answers = names[name] ?? [];
    const at = used.get(name) ?? 0;
    used.set(name, at + 1);
    const address = answers[Math.min(at, answers.length - 1)];
    setImmediate(() => {
      if (address === undefined) callback(new Error('ENOTFOUND'), []);
      else callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    });
  };
}
