import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { serveBuilt } from '../server/static-text.js';

/** The browser SDK as one script, for pages of every origin (docs/sdk.md). It was built with the service. */
export function browserSdk(scope: FastifyInstance): void {
  const file = createRequire(import.meta.url).resolve('@consent-ledger/browser/consent.js');
  serveBuilt(scope, '/sdk/consent.js', 'text/javascript; charset=utf-8', file);
}
