import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { Sha256Hex } from '../../../schemas/evidence/primitives.js';
import type { FindVendorList } from '../../tenancy/configuration/vendor-lists.js';
import { publicDocument } from '../server/send-document.js';
import { StaticText, serveBuilt } from '../server/static-text.js';

const JAVASCRIPT = 'text/javascript; charset=utf-8';
/** A vendor list is named by its digest, so it never changes. */
const FOREVER = 'public, max-age=31536000, immutable';

const VendorListParams = z.object({
  name: z
    .string()
    .transform((name) => name.replace(/\.json$/, ''))
    .pipe(Sha256Hex),
});

/**
 * Serves the browser SDK as one script, for pages of every origin (docs/sdk.md), and the scripts that it loads for
 * gated content with its placeholders, for the opt-out, for tag managers and for IAB signals, and the panel that a developer loads by
 * hand, and what shows a draft. They are built with the service.
 */
export function browserSdk(scope: FastifyInstance, findVendorList: FindVendorList): void {
  const { resolve } = createRequire(import.meta.url);
  serveBuilt(scope, '/sdk/consent.js', JAVASCRIPT, resolve('@consent-ledger/browser/consent.js'));
  serveBuilt(scope, '/sdk/gate.js', JAVASCRIPT, resolve('@consent-ledger/browser/gate.js'));
  serveBuilt(scope, '/sdk/placeholder.js', JAVASCRIPT, resolve('@consent-ledger/browser/placeholder.js'));
  serveBuilt(scope, '/sdk/withdrawn.js', JAVASCRIPT, resolve('@consent-ledger/browser/withdrawn.js'));
  serveBuilt(scope, '/sdk/policy.js', JAVASCRIPT, resolve('@consent-ledger/browser/policy.js'));
  serveBuilt(scope, '/sdk/account.js', JAVASCRIPT, resolve('@consent-ledger/browser/account.js'));
  serveBuilt(scope, '/sdk/opt-out.js', JAVASCRIPT, resolve('@consent-ledger/browser/opt-out.js'));
  serveBuilt(scope, '/sdk/tag-manager.js', JAVASCRIPT, resolve('@consent-ledger/browser/tag-manager.js'));
  serveBuilt(scope, '/sdk/inspect.js', JAVASCRIPT, resolve('@consent-ledger/browser/inspect.js'));
  serveBuilt(scope, '/sdk/draft.js', JAVASCRIPT, resolve('@consent-ledger/browser/draft.js'));
  serveBuilt(scope, '/sdk/iab.js', JAVASCRIPT, resolve('@consent-ledger/browser/iab.js'));
  serveBuilt(scope, '/sdk/iab-stub.js', JAVASCRIPT, resolve('@consent-ledger/browser/iab-stub.js'));
  const prepared = new WeakMap<Buffer, StaticText>();
  scope.get('/sdk/vendor-lists/:name', async (request, reply) => {
    const parsed = VendorListParams.safeParse(request.params);
    const file = parsed.success ? await findVendorList(parsed.data.name) : null;
    if (file === null) return reply.callNotFound();
    const { bytes } = file;
    const text =
      prepared.get(bytes) ??
      new StaticText(publicDocument({ contentType: 'application/json', body: bytes, cacheControl: FOREVER }));
    prepared.set(bytes, text);
    return text.send(request, reply);
  });
}
