import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { FOR_MINUTES, publicDocument } from '../server/send-document.js';
import { StaticText, serveLazily } from '../server/static-text.js';

/** The browser SDK as one script, for pages of every origin (docs/sdk.md). It was built with the service. */
export function browserSdk(scope: FastifyInstance): void {
  const file = createRequire(import.meta.url).resolve('@consent-ledger/browser/consent.js');
  serveLazily(scope, '/sdk/consent.js', async () => {
    const body = await readFile(file, 'utf8');
    return new StaticText(
      publicDocument({ contentType: 'text/javascript; charset=utf-8', body, cacheControl: FOR_MINUTES }),
    );
  });
}
