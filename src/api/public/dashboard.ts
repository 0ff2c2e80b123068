import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { preparedDocument } from '../server/send-document.js';
import { StaticText, serveLazily } from '../server/static-text.js';

/** The names of assets contain a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';
/** A page names the assets of its version, so browsers must ask each time whether there is a newer page. */
const ASK_EACH_TIME = 'no-cache';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The dashboard may load only what the service serves. Frames show the banner preview, and documents of the tenant from
 * blobs in a sandbox.
 */
const PANEL_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/**
 * The preview of the banner has an origin of its own (`sandbox` without `allow-same-origin`), so
 * that the texts of a tenant never run with the rights of the dashboard. It reads nothing.
 */
const PREVIEW_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Serves the customers' dashboard (docs/dashboard.md), which is built with the service. */
export function dashboard(scope: FastifyInstance): void {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve('@consent-ledger/dashboard/package.json')),
    'dist',
  );
  const index = () => readPage(join(folder, 'index.html'), PANEL_POLICY, {});
  serveLazily(scope, '/panel', index);
  // A deep link gets the page of the application, which reads the path itself.
  serveLazily(scope, '/panel/*', index);
  serveLazily(scope, '/panel/banner-preview', () =>
    readPage(join(folder, 'banner-preview.html'), PREVIEW_POLICY, { 'x-frame-options': 'SAMEORIGIN' }),
  );
  serveAssets(scope, join(folder, 'assets'));
}

/**
 * Serves the files of a folder. Only names in the folder's listing are read. A file stays in memory after its first
 * read; after a failure, the next request tries again.
 */
export function serveAssets(scope: FastifyInstance, folder: string): void {
  const kept = new Map<string, Promise<StaticText>>();
  let names: Promise<readonly string[]> | undefined;
  scope.get<{ Params: { name: string } }>('/panel/assets/:name', async (request, reply) => {
    const { name } = request.params;
    names ??= readdir(folder);
    const listed = await names.catch((error: unknown) => {
      names = undefined;
      throw error;
    });
    if (!listed.includes(name)) throw new ApiError('ROUTE_NOT_FOUND');
    const reading = kept.get(name) ?? readAsset(join(folder, name));
    kept.set(name, reading);
    const text = await reading.catch((error: unknown) => {
      kept.delete(name);
      throw error;
    });
    return text.send(request, reply);
  });
}

async function readAsset(path: string): Promise<StaticText> {
  return new StaticText(
    preparedDocument(MEDIA_TYPES[extname(path)] ?? 'application/octet-stream', await readFile(path), {
      'cache-control': FOR_EVER,
      // Module scripts are fetched with CORS, and the preview has an opaque origin. Assets are public, so every origin
      // may read them.
      'access-control-allow-origin': '*',
    }),
  );
}

async function readPage(path: string, policy: string, headers: Readonly<Record<string, string>>): Promise<StaticText> {
  return new StaticText(
    preparedDocument('text/html; charset=utf-8', await readFile(path), {
      ...headers,
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'cache-control': ASK_EACH_TIME,
    }),
  );
}
